// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/scalarrole.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace telltale::judge {

ScalarRole scalarRoleOf(std::string_view name)
{
    // "train/Loss-Scale" is "train loss scale".
    std::string words = " ";
    for (const char c : name)
        words += std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : ' ';
    words += ' ';
    const auto has = [&words](const char* word) { return words.find(word) != std::string::npos; };
    if (has(" loss scale ") || has(" grad scale ") || has(" scaler ") || has(" lossscale ") || has(" scale "))
        return ScalarRole::LossScale;
    if (has(" lr ") || has(" learning rate ") || has(" learningrate "))
        return ScalarRole::LearningRate;
    if (has(" grad norm") || has(" gradnorm") || has(" gnorm "))
        return ScalarRole::GradNorm;
    return has("loss ") ? ScalarRole::Loss : ScalarRole::Other;
}

}
