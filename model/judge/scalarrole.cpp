// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/scalarrole.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace telltale::judge {

namespace {

/// " train loss scale " of "train/Loss-Scale".
std::string wordsOf(std::string_view name)
{
    std::string words = " ";
    for (const char c : name)
        words += std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : ' ';
    words += ' ';
    return words;
}

}

ScalarRole scalarRoleOf(std::string_view name)
{
    if (name.starts_with("telltale."))
        return ScalarRole::Other; // what agents say of their own: a call site may be of a function named "loss"
    const std::string words = wordsOf(name);
    const auto has = [&words](const char* word) { return words.find(word) != std::string::npos; };
    if (has(" loss scale ") || has(" grad scale ") || has(" scaler ") || has(" lossscale ") || has(" scale "))
        return ScalarRole::LossScale;
    if (has(" lr ") || has(" learning rate ") || has(" learningrate "))
        return ScalarRole::LearningRate;
    if (has(" grad norm") || has(" gradnorm") || has(" gnorm "))
        return ScalarRole::GradNorm;
    // How long a rank computes, while it waits for no other: a whole step takes all of them as long, and a backward
    // pass has the reduction of gradients in it.
    const bool isTime = has(" ms ") || has(" s ") || has(" us ") || has(" ns ") || has(" sec") || has(" time ");
    if (isTime && (has(" forward ") || has(" fwd ") || has(" compute ")))
        return ScalarRole::ComputeTime;
    return has("loss ") ? ScalarRole::Loss : ScalarRole::Other;
}

bool isTiming(std::string_view name)
{
    const std::string words = wordsOf(name);
    for (const char* word : { " ms ", " us ", " ns ", " sec", " time", " throughput ", " per s", " tflops ", " mfu ",
             " wall ", " elapsed " }) {
        if (words.find(word) != std::string::npos)
            return true;
    }
    return false;
}

}
