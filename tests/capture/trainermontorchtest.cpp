// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include <torch/torch.h>

#include <telltale/config/field.h>
#include <telltale/torch/attentionmaps.h>
#include <telltale/torch/attentionstats.h>
#include <telltale/torch/configfile.h>
#include <telltale/torch/environment.h>
#include <telltale/torch/hosttensor.h>
#include <telltale/torch/servedfields.h>
#include <telltale/torch/strikes.h>
#include <telltale/torch/trainermon.h>
#include <telltale/torch/watch.h>

#include "torchrecordingsink.h"

namespace trainermontorchtest {

using namespace telltale;

namespace {

/// Two linear layers with dropout between them, tapped.
struct TinyModel : torch::nn::Module {
    explicit TinyModel()
        : first(6, 5)
        , second(5, 3)
    {
        register_module("first", first);
        register_module("second", second);
    }
    torch::Tensor forward(const torch::Tensor& x, TrainerMon* monitor)
    {
        auto hidden = first(x);
        if (monitor)
            monitor->tap("first", hidden);
        hidden = torch::dropout(torch::relu(hidden), 0.3, true);
        auto out = second(hidden);
        if (monitor)
            monitor->tap("second", out);
        return out;
    }
    torch::nn::Linear first;
    torch::nn::Linear second;
};

MonitorOptions everything()
{
    MonitorOptions options;
    options.config.allXy = true;
    options.config.wgDistribution = true;
    options.config.mvDistribution = true;
    options.config.paramDistribution = true;
    options.config.xyDistribution = true;
    options.config.attentionHook = true;
    return options;
}

/// One model, its optimizer and perhaps its monitor, trained on random data.
struct Training {
    explicit Training(Sink* sink, const MonitorOptions& options = everything(), ModelOptions modelOptions = {})
    {
        torch::manual_seed(7);
        model = std::make_shared<TinyModel>();
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(0.01));
        if (sink) {
            monitor = std::make_unique<TrainerMon>(*sink, options);
            monitor->setMonitor(*model, *optimizer, modelOptions);
        }
    }
    void backward() { model->forward(torch::randn({ 4, 6 }), monitor.get()).square().mean().backward(); }
    void step()
    {
        if (monitor)
            monitor->step();
        else
            optimizer->step();
        optimizer->zero_grad();
    }
    void run(int steps)
    {
        for (int i = 0; i < steps; ++i) {
            backward();
            step();
        }
    }
    std::shared_ptr<TinyModel> model;
    std::unique_ptr<torch::optim::AdamW> optimizer;
    std::unique_ptr<TrainerMon> monitor;
};

/// A layer of a million weights.
void train(RecordingSink& sink, const MonitorOptions& options, int steps)
{
    torch::nn::Linear layer(1000, 1000);
    torch::optim::SGD optimizer(layer->parameters(), 0.01);
    TrainerMon monitor(sink, options);
    monitor.setMonitor(*layer, optimizer);
    for (int i = 0; i < steps; ++i) {
        optimizer.zero_grad();
        layer(torch::randn({ 4, 1000 })).square().mean().backward();
        monitor.step();
    }
}

std::chrono::nanoseconds leastOf(const std::vector<RecordingSink::Cost>& costs)
{
    return std::min_element(costs.begin(), costs.end(), [](const auto& a, const auto& b) {
        return a.inside < b.inside;
    })->inside;
}

tt_stats reference(const torch::Tensor& tensor)
{
    const auto host = hostTensor(tensor);
    tt_stats out {};
    tt_stats_reference(&host.table, TT_DEFAULT_EPS, &out);
    return out;
}

bool sameStats(const std::optional<tt_stats>& got, const tt_stats& wanted)
{
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1e-3, std::abs(b)); };
    return got && got->numel == wanted.numel && got->nans == wanted.nans && got->pos_infs == wanted.pos_infs
        && got->zero_count == wanted.zero_count && got->min == wanted.min && got->max == wanted.max
        && near(static_cast<double>(got->norm), static_cast<double>(wanted.norm))
        && near(static_cast<double>(got->mean), static_cast<double>(wanted.mean));
}

bool bitwiseEqual(const torch::nn::Module& a, const torch::nn::Module& b)
{
    const auto left = a.parameters();
    const auto right = b.parameters();
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (!torch::equal(left[i], right[i]))
            return false;
    }
    return left.size() == right.size();
}

/// [head, row] entropies, maxima and largest logits in double, from the whole matrix.
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> naiveAttention(
    const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal)
{
    auto scores = torch::matmul(query.to(torch::kFloat64), key.to(torch::kFloat64).transpose(-2, -1)) * scale;
    if (causal) {
        const auto mask
            = torch::ones({ query.size(-2), key.size(-2) }, torch::kBool).triu(1 + key.size(-2) - query.size(-2));
        scores = scores.masked_fill(mask, -std::numeric_limits<double>::infinity());
    }
    const auto p = torch::softmax(scores, -1);
    const auto plogp = torch::where(p > 0, p * torch::log(p), torch::zeros_like(p));
    return { -plogp.sum(-1), std::get<0>(p.max(-1)), std::get<0>(scores.max(-1)) };
}

}

class TrainerMonTorchTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void statisticsEqualTheirDefinitionInDouble()
    {
        RecordingSink sink;
        Training t(&sink);
        for (std::int64_t step = 0; step < 3; ++step) {
            t.backward();
            std::map<std::string, tt_stats> before;
            std::map<std::string, tt_stats> gradient;
            for (const auto& p : t.model->named_parameters()) {
                before[p.key()] = reference(p.value());
                gradient[p.key()] = reference(p.value().grad());
            }
            t.step();
            for (const auto& p : t.model->named_parameters()) {
                QVERIFY(sameStats(sink.find(step, Kind::ParamOrigin, p.key()), before[p.key()]));
                QVERIFY(sameStats(sink.find(step, Kind::ParamUpdated, p.key()), reference(p.value())));
                QVERIFY(sameStats(sink.find(step, Kind::GradUnreduced, p.key()), gradient[p.key()]));
                QVERIFY(sameStats(sink.find(step, Kind::GradReduced, p.key()), gradient[p.key()]));
            }
        }
        QCOMPARE(t.monitor->internalErrors(), std::uint64_t { 0 });
        QVERIFY(sink.events.empty());
    }

    void momentsAreThoseBeforeTheStep()
    {
        RecordingSink sink;
        Training t(&sink);
        t.run(1);
        QVERIFY(!sink.has(0, Kind::ExpAvg));
        const auto& weight = t.model->first->weight;
        std::map<std::int64_t, tt_stats> wanted;
        for (auto& state : t.optimizer->state()) {
            auto& adam = static_cast<torch::optim::AdamWParamState&>(*state.second);
            if (adam.exp_avg().sizes() == weight.sizes())
                wanted = { { 1, reference(adam.exp_avg()) }, { 2, reference(adam.exp_avg_sq()) } };
        }
        t.run(1);
        QVERIFY(sameStats(sink.find(1, Kind::ExpAvg, "first.weight"), wanted[1]));
        QVERIFY(sameStats(sink.find(1, Kind::ExpAvgSq, "first.weight"), wanted[2]));
    }

    void activationsAndTheirGradientsComeFromTheTap()
    {
        RecordingSink sink;
        Training t(&sink);
        const auto x = torch::randn({ 4, 6 });
        auto y = t.model->first(x);
        t.monitor->tap("first", y);
        (y * 3.0).sum().backward();
        t.step();
        QVERIFY(sameStats(sink.find(0, Kind::Actv, "first", "output"), reference(y)));
        const auto gradient = sink.find(0, Kind::ActvGrad, "first", "output");
        QVERIFY(gradient && gradient->min == 3.0f && gradient->max == 3.0f && gradient->numel == 20);
        // The other layer had no gradient in this step: no value, not zero.
        QVERIFY(!sink.find(0, Kind::GradReduced, "second.weight"));
    }

    void eachMicroStepHasItsOwnValues()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.monitorMbsGrad = true;
        Training t(&sink, options, { 2, 10, 0 });
        t.backward();
        const auto first = t.model->second->weight.grad().clone();
        t.backward();
        const auto both = t.model->second->weight.grad().clone();
        t.step();
        QVERIFY(sameStats(sink.find(10, Kind::GradUnreduced, "second.weight", {}, 0), reference(first)));
        const auto other = sink.find(10, Kind::GradUnreduced, "second.weight", {}, 1);
        QVERIFY(other);
        QVERIFY(std::abs(other->norm - reference(both - first).norm) < 1e-5f);
        QVERIFY(sameStats(sink.find(10, Kind::GradReduced, "second.weight"), reference(both)));
        QVERIFY(sink.find(10, Kind::Actv, "first", "output", 0) && sink.find(10, Kind::Actv, "first", "output", 1));
    }

    void withoutMicroStepSeriesTheLastMicroStepIsKept()
    {
        RecordingSink sink;
        Training t(&sink, everything(), { 2, 0, 0 });
        t.backward();
        const auto first = t.model->second->weight.grad().clone();
        t.backward();
        const auto last = t.model->second->weight.grad() - first;
        t.step();
        const auto got = sink.find(0, Kind::GradUnreduced, "second.weight");
        QVERIFY(got && std::abs(got->norm - reference(last).norm) < 1e-5f);
    }

    void trainingIsBitwiseTheSameWithEverythingWatched()
    {
        RecordingSink sink;
        Training bare(nullptr);
        bare.run(40);
        const auto bareDraw = torch::randn({ 8 });
        Training watched(&sink);
        watched.run(40);
        const auto watchedDraw = torch::randn({ 8 });
        QVERIFY(bitwiseEqual(*bare.model, *watched.model));
        QVERIFY(torch::equal(bareDraw, watchedDraw));
        QVERIFY(sink.has(39, Kind::ActvGrad));
    }

    void attentionEqualsTheNaiveSoftmaxInDouble_data()
    {
        QTest::addColumn<int>("queries");
        QTest::addColumn<int>("keys");
        QTest::addColumn<int>("keyHeads");
        QTest::addColumn<bool>("causal");
        QTest::newRow("causal") << 33 << 33 << 4 << true;
        QTest::newRow("full") << 33 << 33 << 4 << false;
        QTest::newRow("more keys than queries") << 5 << 40 << 4 << true;
        QTest::newRow("grouped queries") << 17 << 17 << 2 << true;
        QTest::newRow("one row") << 1 << 1 << 4 << true;
    }
    void attentionEqualsTheNaiveSoftmaxInDouble()
    {
        QFETCH(int, queries);
        QFETCH(int, keys);
        QFETCH(int, keyHeads);
        QFETCH(bool, causal);
        torch::manual_seed(3);
        const auto query = torch::randn({ 1, 4, queries, 20 }) * 3;
        const auto key = torch::randn({ 1, keyHeads, keys, 20 });
        const auto sample = attentionStats(query, key, 0.22, causal, 1000);
        QCOMPARE(sample.heads.size(), std::size_t { 4 });
        QVERIFY(!sample.isSampled);
        const auto wide = key[0].repeat_interleave(4 / keyHeads, 0);
        const auto [entropy, top, logit] = naiveAttention(query[0], wide, 0.22, causal);
        for (int head = 0; head < 4; ++head) {
            const auto& got = sample.heads[static_cast<std::size_t>(head)];
            QVERIFY(std::abs(got.entropy - entropy[head].mean().item<double>()) < 1e-5);
            QVERIFY(std::abs(got.softmaxMax - top[head].mean().item<double>()) < 1e-5);
            QVERIFY(std::abs(got.maxLogit - logit[head].max().item<double>()) < 1e-5);
        }
    }

    void sampledQueriesAreEvenlyStridedAndEndWithTheLast()
    {
        torch::manual_seed(4);
        const auto query = torch::randn({ 2, 3, 64, 8 });
        const auto key = torch::randn({ 2, 3, 64, 8 });
        const auto sample = attentionStats(query, key, 0.5, true, 8);
        QVERIFY(sample.isSampled);
        QCOMPARE(sample.queries, std::size_t { 8 });
        const auto [entropy, top, logit] = naiveAttention(query[0], key[0], 0.5, true);
        const auto rows = torch::arange(7, 64, 8);
        for (int head = 0; head < 3; ++head) {
            const auto wanted = entropy[head].index_select(0, rows).mean().item<double>();
            const auto& got = sample.heads[static_cast<std::size_t>(head)];
            QVERIFY(std::abs(got.entropy - wanted) < 1e-5);
            QVERIFY(std::abs(got.maxLogit - logit[head].index_select(0, rows).max().item<double>()) < 1e-5);
        }
    }

    void attentionLeavesViewsHalfPrecisionAndNaNAlone()
    {
        const auto packed = torch::randn({ 9, 2, 4, 16 }); // position, batch, head, dim
        const auto view = packed.permute({ 1, 2, 0, 3 });
        const auto dense = view.contiguous();
        QCOMPARE(attentionStats(view, view, 0.25, true, 99).heads[2].entropy,
            attentionStats(dense, dense, 0.25, true, 99).heads[2].entropy);
        const auto half = dense.to(torch::kBFloat16);
        QCOMPARE(attentionStats(half, half, 0.25, true, 99).heads[1].entropy,
            attentionStats(half.to(torch::kFloat32), half.to(torch::kFloat32), 0.25, true, 99).heads[1].entropy);
        auto broken = dense.clone();
        broken[0][3][0][0] = std::numeric_limits<float>::quiet_NaN();
        const auto sample = attentionStats(broken, broken, 0.25, true, 99);
        QVERIFY(std::isnan(sample.heads[3].entropy) && !std::isnan(sample.heads[2].entropy));
        QVERIFY(std::isnan(sample.heads[3].maxLogit) && std::isfinite(sample.heads[2].maxLogit));
        const auto large = torch::full_like(dense, 1e30F); // whose products overflow
        QCOMPARE(attentionStats(large, large, 0.25, true, 99).heads[0].maxLogit, HUGE_VAL);
        QVERIFY(attentionStats(dense, -dense, 0.25, true, 1).heads[0].maxLogit > -HUGE_VAL);
        QVERIFY(attentionStats(dense, dense.slice(3, 0, 8), 0.25, true, 99).heads.empty());
    }

    void mapsEqualTheWholeMatrix_data() { attentionEqualsTheNaiveSoftmaxInDouble_data(); }
    void mapsEqualTheWholeMatrix()
    {
        QFETCH(int, queries);
        QFETCH(int, keys);
        QFETCH(int, keyHeads);
        QFETCH(bool, causal);
        torch::manual_seed(8);
        const auto query = torch::randn({ 2, 4, queries, 20 }) * 2;
        const auto key = torch::randn({ 2, keyHeads, keys, 20 });
        const std::int64_t size = 8;
        const auto document = attentionMapDocument(query, key, 0.22, causal, { 3, 1, 9 }, size);
        QVERIFY(document);
        const auto head = nlohmann::json::parse(document->substr(0, document->find('\n')));
        QCOMPARE(head["heads"], nlohmann::json({ 3, 1 }));
        const auto rows = head["rows"].get<std::int64_t>(), columns = head["columns"].get<std::int64_t>();
        const auto high = head["queries_per_row"].get<std::int64_t>(),
                   wide = head["keys_per_column"].get<std::int64_t>();
        QVERIFY(rows <= size && columns <= size && rows * high >= queries && columns * wide >= keys);
        std::string bytes = document->substr(document->find('\n') + 1);
        QCOMPARE(static_cast<std::int64_t>(bytes.size()), 2 * 2 * rows * columns);
        const auto cells = torch::from_blob(bytes.data(), { 2, rows, columns }, torch::kFloat16).to(torch::kDouble);
        for (int i = 0; i < 2; ++i) {
            const auto number = i == 0 ? 3 : 1;
            const auto q = query[0][number].to(torch::kDouble);
            const auto k = key[0][number / (4 / keyHeads)].to(torch::kDouble);
            const auto may = causal ? torch::ones({ queries, keys }).tril(keys - queries) > 0
                                    : torch::ones({ queries, keys }, torch::kBool);
            const auto p = torch::softmax((torch::matmul(q, k.t()) * 0.22).masked_fill(~may, -HUGE_VAL), 1);
            for (std::int64_t r = 0; r < rows; ++r) {
                for (std::int64_t c = 0; c < columns; ++c) {
                    const auto part = [&](const torch::Tensor& whole) {
                        return whole.slice(0, r * high, std::min<std::int64_t>((r + 1) * high, queries))
                            .slice(1, c * wide, std::min<std::int64_t>((c + 1) * wide, keys));
                    };
                    const auto found = cells[i][r][c].item<double>();
                    if (!part(may).any().item<bool>())
                        QCOMPARE(found, -1.0);
                    else
                        QVERIFY(std::abs(found - part(p).sum(1).mean().item<double>()) < 6e-4);
                }
            }
        }
        QVERIFY(!attentionMapDocument(query, key, 0.22, causal, { 4 }, size));
    }

    void mapsAreSentAtTheirSteps()
    {
        RecordingSink sink, alone;
        MonitorOptions options;
        options.config = config::parseMonitorConfig(
            R"({"telltale": {"attention_maps": {"layers.*": [2]}, "attention_maps_interval": 3}})")
                             ->config;
        Training watched(&sink, options), bare(nullptr);
        torch::manual_seed(9);
        const auto q = torch::randn({ 2, 4, 8, 16 });
        std::vector<std::int64_t> steps;
        torch::manual_seed(10); // of the batches
        for (std::int64_t step = 0; step < 7; ++step) {
            sink.blobs.erase("attention_map");
            watched.monitor->attention("layers.0.attn", q, q, 0.25, true);
            watched.monitor->attention("layers.0.attn", q, q, 0.25, true); // once a step
            watched.monitor->attention("other", q, q, 0.25, true);
            watched.run(1);
            if (sink.blobs.count("attention_map") > 0)
                steps.push_back(step);
        }
        QCOMPARE(steps, (std::vector<std::int64_t> { 0, 3, 6 }));
        QCOMPARE(sink.blobs["attention_map"], *attentionMapDocument(q, q, 0.25, true, { 2 }, 64));
        QVERIFY(sink.value(0, Kind::Attention, "layers.0.attn", "head_3", 0)); // statistics come with maps
        QVERIFY(!sink.value(0, Kind::Attention, "other", "head_3", 0));
        torch::manual_seed(10);
        bare.run(7);
        QVERIFY(bitwiseEqual(*bare.model, *watched.model));
    }

    void mapsAreSentAtTheStepsThatAreListed_data()
    {
        QTest::addColumn<QString>("fields");
        QTest::addColumn<QList<int>>("sent");
        QTest::newRow("in any order") << R"("telltale": {%1[7, 1, 4, 4, 100]})" << QList<int> { 1, 4, 7 };
        QTest::newRow("none: the interval") << R"("telltale": {%1[]})" << QList<int> { 0 };
        QTest::newRow("the next that is collected")
            << R"("start_step": 3, "step_interval": 2, "telltale": {%1[0, 1, 6, 8, 9]})" << QList<int> { 3, 7, 9 };
    }

    void mapsAreSentAtTheStepsThatAreListed()
    {
        QFETCH(QString, fields);
        QFETCH(QList<int>, sent);
        RecordingSink sink;
        MonitorOptions options;
        const auto maps = QStringLiteral(R"("attention_maps": {"layers.*": [2]}, "attention_maps_steps": )");
        options.config = config::parseMonitorConfig((u'{' + fields.arg(maps) + u'}').toStdString())->config;
        Training t(&sink, options);
        const auto q = torch::randn({ 2, 4, 8, 16 });
        QList<int> steps;
        for (int step = 0; step < 12; ++step) {
            sink.blobs.erase("attention_map");
            t.monitor->attention("layers.0.attn", q, q, 0.25, true);
            t.run(1);
            if (sink.blobs.count("attention_map") > 0)
                steps.append(step);
        }
        QCOMPARE(steps, sent);
    }

    void attentionSeriesNameTheirHead()
    {
        RecordingSink sink;
        Training t(&sink);
        const auto q = torch::randn({ 2, 4, 8, 16 });
        t.monitor->attention("layers.0.attn", q, q.slice(1, 0, 2), 0.25, true); // two heads share a key
        t.run(1);
        const auto wanted = attentionStats(q, q.slice(1, 0, 2), 0.25, true, 32).heads[3];
        const auto entropy = sink.value(0, Kind::Attention, "layers.0.attn", "head_3", 0);
        const auto top = sink.value(0, Kind::Attention, "layers.0.attn", "head_3", 1);
        QVERIFY(entropy && *entropy == static_cast<double>(static_cast<float>(wanted.entropy)));
        QVERIFY(top && *top == static_cast<double>(static_cast<float>(wanted.softmaxMax)));
        const auto logit = sink.value(0, Kind::Attention, "layers.0.attn", "head_3", 2);
        QVERIFY(logit && *logit == static_cast<double>(static_cast<float>(wanted.maxLogit)));
        const auto layout = std::find_if(sink.layouts.begin(), sink.layouts.end(),
            [](const RecordingSink::Layout& one) { return one.kind == Kind::Attention; });
        QVERIFY(layout != sink.layouts.end());
        QCOMPARE(layout->series.at(3).shape, (std::vector<std::int64_t> { 4, 2, 8, 8 }));
    }

    void startIntervalAndCountGateTheCollection()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.startStep = 2;
        options.config.stepInterval = 3;
        options.config.collectTimes = 2;
        Training t(&sink, options);
        for (int i = 0; i < 12; ++i) {
            t.monitor->log("loss", i);
            t.run(1);
        }
        for (std::int64_t step = 0; step < 12; ++step) {
            const bool isWanted = step == 2 || step == 5;
            QCOMPARE(sink.has(step, Kind::Actv), isWanted);
            QCOMPARE(sink.has(step, Kind::GradUnreduced), isWanted);
            QCOMPARE(sink.has(step, Kind::ParamUpdated), isWanted);
            QVERIFY(sink.value(step, Kind::Scalar, "loss") == static_cast<double>(step));
        }
    }

    void ranksAndTheSwitchGateTheCollection()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.moduleRanks = { 1, 2 };
        Training(&sink, options).run(2);
        QVERIFY(sink.steps.empty());
        options.rank = 2;
        Training(&sink, options).run(1);
        QVERIFY(sink.has(0, Kind::GradReduced));
        RecordingSink other;
        options.isOn = false;
        Training(&other, options).run(2);
        QVERIFY(other.steps.empty());
    }

    void targetsSelectParametersAndModules()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.targets = { { "second", "" } };
        options.config.allXy = false;
        Training(&sink, options).run(1);
        QVERIFY(sink.find(0, Kind::GradReduced, "second.weight") && sink.find(0, Kind::Actv, "second", "output"));
        QVERIFY(!sink.find(0, Kind::GradReduced, "first.weight") && !sink.find(0, Kind::Actv, "first", "output"));
    }

    void aSelectionPicksTheSlotsOfItsModule()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.targets = { { "second", R"({"output_grad":"tensor"})" }, { "thrid", "" } };
        Training(&sink, options).run(1);
        QVERIFY(sink.find(0, Kind::ActvGrad, "second", "output") && !sink.find(0, Kind::Actv, "second", "output"));
        QVERIFY(sink.find(0, Kind::Actv, "first", "output")); // all_xy
        QCOMPARE(sink.events.size(), std::size_t { 1 });
        QVERIFY(sink.events.front().find("\"thrid\"") != std::string::npos);
    }

    void eachKindIsCollectedOnlyWhenAskedFor()
    {
        RecordingSink sink;
        MonitorOptions options;
        options.config.wgDistribution = true;
        Training(&sink, options).run(2);
        QVERIFY(sink.has(1, Kind::GradUnreduced) && sink.has(1, Kind::GradReduced));
        for (const auto kind : { Kind::ParamOrigin, Kind::ExpAvg, Kind::Actv, Kind::ActvGrad, Kind::Attention })
            QVERIFY(!sink.has(1, kind));
        options.config.xyDistribution = true;
        options.config.backwardOnly = true;
        Training(&sink, options).run(1);
        QVERIFY(sink.has(0, Kind::ActvGrad) && !sink.has(0, Kind::Actv));
    }

    void passesWithoutGradientsAreNotTraining()
    {
        RecordingSink sink;
        Training t(&sink);
        {
            torch::NoGradGuard noGrad;
            t.model->forward(torch::full({ 4, 6 }, 1e6), t.monitor.get());
        }
        t.run(1);
        QVERIFY(sink.find(0, Kind::Actv, "first", "output")->max < 1e3f);
        QVERIFY(sink.events.empty());
    }

    void seriesThatComeLateGetALayoutOfTheirOwn()
    {
        RecordingSink sink;
        Training t(&sink);
        t.run(2);
        QCOMPARE(sink.layoutsOf(Kind::Actv), std::size_t { 1 });
        t.backward();
        t.monitor->tap("late", torch::ones({ 3 }));
        t.step();
        QCOMPARE(sink.layoutsOf(Kind::Actv), std::size_t { 2 });
        QVERIFY(sink.find(2, Kind::Actv, "late", "output") && sink.find(2, Kind::Actv, "first", "output"));
        t.run(1);
        QVERIFY(!sink.find(3, Kind::Actv, "late", "output") && sink.find(3, Kind::Actv, "first", "output"));
        QCOMPARE(sink.layoutsOf(Kind::GradReduced), std::size_t { 1 });
    }

    void aFullRingCountsWhatItDrops()
    {
        RecordingSink sink;
        sink.isFull = true;
        MonitorOptions options;
        options.config.wgDistribution = true;
        Training t(&sink, options);
        t.monitor->log("loss", 1.0);
        t.run(1);
        QCOMPARE(sink.droppedSamples, std::uint64_t { 2 * 4 * 6 });
        QCOMPARE(sink.droppedScalars, std::uint64_t { 2 }); // the loss and the time
        sink.isFull = false;
        t.run(1);
        QVERIFY(sink.has(1, Kind::GradReduced));
    }

    void aGraphMayOutliveItsMonitor()
    {
        RecordingSink sink;
        Training t(&sink);
        const auto loss = t.model->forward(torch::randn({ 4, 6 }), t.monitor.get()).sum();
        t.monitor.reset();
        loss.backward();
        QVERIFY(t.model->first->weight.grad().defined());
        QVERIFY(sink.steps.empty());
    }

    void watchingASecondModelStartsAfresh()
    {
        RecordingSink sink;
        Training t(&sink);
        t.run(2);
        Training other(nullptr);
        t.monitor->setMonitor(*other.model, *other.optimizer, { 1, 100, 0 });
        t.run(1);
        QVERIFY(sink.find(100, Kind::ParamOrigin, "first.weight"));
        QVERIFY(!sink.find(100, Kind::GradUnreduced, "first.weight"));
    }

    void tensorsAreReadInPlaceWhereTheirStorageHasNoGaps()
    {
        const auto dense = torch::randn({ 4, 5, 6 });
        const auto permuted = hostTensor(dense.permute({ 2, 0, 1 }));
        QCOMPARE(permuted.table.data, static_cast<const void*>(dense.data_ptr()));
        const auto gapped = hostTensor(dense.slice(2, 0, 3));
        QVERIFY(gapped.copy.defined());
        QCOMPARE(gapped.table.numel, std::uint64_t { 60 });
        QVERIFY(hostTensor(torch::Tensor()).table.numel == 0 && !hostTensor(torch::Tensor()).refusal);
        QVERIFY(hostTensor(torch::zeros({ 2 }, torch::kComplexFloat)).refusal);
        QVERIFY(hostTensor(torch::zeros({ 2, 2 }).to_sparse()).refusal);
    }

    void whatCannotBeObservedIsNamedOnce()
    {
        RecordingSink sink;
        Training t(&sink);
        for (int i = 0; i < 3; ++i) {
            t.backward();
            t.monitor->tap("spectrum", torch::zeros({ 2 }, torch::kComplexFloat));
            t.step();
        }
        QCOMPARE(sink.events.size(), std::size_t { 1 });
        QVERIFY(sink.events.front().find("spectrum") != std::string::npos);
    }

    void everyFieldOfTheConfigIsServedOrNamed()
    {
        // Something else than the default for every field of the table: a new field needs a line here.
        const std::map<std::string, std::string> wishes {
            { "targets", R"({"0": {}})" },
            { "l2_targets", R"({"linear_hook": []})" },
            { "recording_l2_features", "true" },
            { "sa_order", R"("b,s,h,d")" },
            { "print_struct", "true" },
            { "module_ranks", "[0]" },
            { "ur_distribution", "true" },
            { "xy_distribution", "true" },
            { "all_xy", "true" },
            { "forward_only", "true" },
            { "backward_only", "true" },
            { "mv_distribution", "true" },
            { "param_distribution", "true" },
            { "wg_distribution", "true" },
            { "mg_direction", "true" },
            { "cc_distribution.enable", "true" },
            { "cc_distribution.cc_codeline", R"(["train.py"])" },
            { "cc_distribution.cc_pre_hook", "true" },
            { "cc_distribution.cc_log_only", "true" },
            { "alert.rules", R"([{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}])" },
            { "alert.dump", "true" },
            { "stack_info", "true" },
            { "monitor_mbs_grad", "true" },
            { "format", R"("csv")" },
            { "ops", R"(["norm", "max"])" },
            { "eps", "0.5" },
            { "ndigits", "3" },
            { "step_count_per_record", "7" },
            { "append_output", R"(["Dec03_21-34-40", "Dec03_21-34-41"])" },
            { "squash_name", "true" },
            { "start_step", "3" },
            { "step_interval", "2" },
            { "collect_times", "5" },
            { "dynamic_on", "true" },
            { "telltale.attention_hook", "true" },
            { "telltale.attention_queries", "5" },
            { "telltale.attention_maps", R"({"a": [0]})" },
            { "telltale.attention_maps_interval", "7" },
            { "telltale.attention_maps_steps", "[7]" },
            { "telltale.attention_maps_size", "8" },
            { "telltale.stop_after_struct", "true" },
            { "telltale.alert_two_sided", "true" },
            { "telltale.threads", "1" },
            { "telltale.actv_grad_input", R"("total")" },
            { "telltale.stop_after_cc_log", "true" },
            { "telltale.checksum", "true" },
            { "telltale.overhead_budget", "2" },
            { "telltale.environment", "false" },
            { "telltale.system_metrics", "false" },
            { "telltale.flight_recorder", "32" },
            { "telltale.histogram", R"(["grad_reduced"])" },
        };
        for (const auto& field : config::fields()) {
            const std::string object(field.object);
            std::string name = object;
            name.append(object.empty() ? "" : ".").append(field.name);
            QVERIFY2(wishes.contains(name), name.c_str());
            std::string text = "{";
            if (!object.empty())
                text.append("\"").append(object).append("\": {");
            text.append("\"").append(field.name).append("\": ").append(wishes.at(name));
            text.append(object.empty() ? "}" : "}}");
            const auto parsed = config::parseMonitorConfig(text);
            QVERIFY(parsed && parsed->problems.empty());
            QVERIFY2(field.write(parsed->config) != field.write(config::MonitorConfig {}), name.c_str());
            const bool isNamed = unservedFields(parsed->config) == std::vector<std::string> { name };
            QVERIFY2(isNamed != (isServed(name) && name != "format"), name.c_str());
        }
        QVERIFY(unservedFields(config::parseMonitorConfig(R"({"format": ["stream"]})")->config).empty());
        QVERIFY(unservedFields(config::parseMonitorConfig(everythingConfigText())->config).empty());
        const auto update = R"({"ur_distribution": true, "telltale": {"histogram": ["update", "ratio"]}})";
        QCOMPARE(
            unservedFields(config::parseMonitorConfig(update)->config), std::vector<std::string> { "ur_distribution" });
    }

    void secretsOfTheCommandLineAreHidden()
    {
        const std::string line = commandLine({ "train", "--api-key", "k1", "--lr", "0.1", "--hub_token=k2",
            "telltale://h:1#token=k3&fp=aa", "https://me:k4@host/x", "to_https://me:k5@host", "--pad-token", "<pad>" });
        QCOMPARE(line,
            std::string("train --api-key *** --lr 0.1 --hub_token=*** telltale://h:1#token=***&fp=aa "
                        "https://***@host/x to_https://***@host --pad-token <pad>"));
        // An argument may be as long as the system allows, and a training must survive that.
        const std::string longest = commandLine({ "train", "https://me:k5@host/" + std::string(130'000, 'x') });
        QCOMPARE(longest.size(), std::size_t(4000));
        QVERIFY(longest.starts_with("train https://***@host/xxx"));
        const std::string all = environmentJson("libtorch");
        QVERIFY2(all.find("\"host\"") != std::string::npos && all.find("trainermontorchtest") != std::string::npos,
            all.c_str());
    }

    void aRunSaysWhatItWasStartedWithOnce()
    {
        for (const int rank : { 0, 1 }) {
            auto owned = std::make_unique<RecordingSink>();
            const RecordingSink& sink = *owned;
            MonitorOptions options;
            options.rank = rank;
            Watch watch(std::move(owned), options);
            QVERIFY(watch.hyperparameters(R"({"lr": 0.1})"));
            QVERIFY(!watch.hyperparameters("[1]") && !watch.hyperparameters("{"));
            watch.tags({ "a", "b c" });
            watch.notes("one\ntwo");
            QCOMPARE(sink.events,
                rank == 0 ? (std::vector<std::string> { "tags: a b c", "one" }) : std::vector<std::string>());
        }
    }

    void whatTheConfigAsksForInVainIsToldOnce()
    {
        RecordingSink sink;
        auto options = everything();
        options.config.mgDirection = options.config.stackInfo = true;
        Training t(&sink, options);
        t.run(3);
        QCOMPARE(sink.events.size(), std::size_t { 1 });
        QVERIFY(sink.events.front().find("mg_direction, stack_info") != std::string::npos);
    }

    void theThirdFailureSwitchesAKindOff()
    {
        Strikes strikes;
        std::vector<std::string> told;
        int runs = 0;
        for (int i = 0; i < 5; ++i) {
            strikes.run(
                Kind::Actv,
                [&] {
                    ++runs;
                    throw std::runtime_error("broken");
                },
                [&](const std::string& text) { told.push_back(text); });
        }
        QCOMPARE(runs, 3);
        QCOMPARE(strikes.total(), std::uint64_t { 3 });
        QCOMPARE(told.size(), std::size_t { 2 });
        QVERIFY(told.back().find("off for the rest") != std::string::npos);
        strikes.run(
            Kind::ActvGrad, [&] { ++runs; }, [](const std::string&) {});
        QCOMPARE(runs, 4);
    }

    void theTimeInTheMonitorIsToldOfEveryStepButTheFirst()
    {
        constexpr int kSteps = 12;
        RecordingSink sink, idle;
        const auto start = std::chrono::steady_clock::now();
        train(sink, everything(), kSteps);
        const auto wall = std::chrono::steady_clock::now() - start;
        auto off = everything();
        off.isOn = false;
        train(idle, off, kSteps);
        QCOMPARE(sink.costs.size(), std::size_t { kSteps - 1 }); // a first boundary begins the first whole step
        QCOMPARE(idle.costs.size(), std::size_t { kSteps - 1 });
        std::chrono::nanoseconds elapsed {};
        for (const auto& cost : sink.costs) {
            QVERIFY(cost.inside.count() > 0);
            QVERIFY(cost.inside < cost.elapsed); // the training's own part of a step takes longer than nothing
            elapsed += cost.elapsed;
        }
        QVERIFY(elapsed < wall);
        // A million parameters are measured; while nothing is collected no hook runs.
        QVERIFY(leastOf(sink.costs) > 10 * leastOf(idle.costs));
    }

    void closuresAreMeasuredAfterTheyRan()
    {
        RecordingSink sink;
        Training t(&sink);
        tt_stats wanted {};
        t.monitor->step([&] {
            t.optimizer->zero_grad();
            auto loss = t.model->forward(torch::ones({ 4, 6 }), t.monitor.get()).square().mean();
            loss.backward();
            wanted = reference(t.model->second->weight.grad());
            return loss;
        });
        QVERIFY(sameStats(sink.find(0, Kind::GradReduced, "second.weight"), wanted));
    }

    void theStructureNamesModulesAndParameters()
    {
        RecordingSink sink;
        Training t(&sink);
        const auto document = QJsonDocument::fromJson(QByteArray::fromStdString(sink.blobs["structure"]));
        const auto children = document.object()[QLatin1String("children")].toArray();
        QCOMPARE(children.size(), 2);
        const auto second = children[1].toObject();
        QCOMPARE(second[QLatin1String("name")].toString(), QLatin1String("second"));
        QCOMPARE(second[QLatin1String("type")].toString(), QLatin1String("Linear"));
        const auto weight = second[QLatin1String("parameters")].toArray()[0].toObject();
        QCOMPARE(weight[QLatin1String("name")].toString(), QLatin1String("second.weight"));
        QCOMPARE(weight[QLatin1String("shape")].toArray(), (QJsonArray { 3, 5 }));
        QCOMPARE(weight[QLatin1String("dtype")].toString(), QLatin1String("float32"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, TrainerMonTorchTest)

}

#include "trainermontorchtest.moc"
