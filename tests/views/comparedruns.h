// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <QBuffer>
#include <QComboBox>
#include <QLabel>
#include <QTextDocumentFragment>

#include <telltale/compare/compareview.h>
#include <telltale/heatmap/heatquery.h>
#include <telltale/items/runsmodel.h>

#include "viewonrun.h"

namespace telltale::test {

/// A Compare view beside which runs are that stand in files and whose values are known. A test class has it as a base,
/// calls writeRuns() once, openWindow() in its init() and closeWindow() in its cleanup(). Thread: the test's.
class ComparedRuns {
protected:
    static constexpr int kSteps = 240;
    static constexpr int kRows = 6;
    static constexpr int kParts = 120; ///< where run "b" leaves the reference
    static constexpr int kBreaks = 150; ///< where layers.1 of "b" is NaN, once
    static constexpr int kBroken = 200; ///< where layers.2 is NaN in all of them, once
    static constexpr int kBatch = 8;

    /// What a tensor shows after so many samples.
    static float valueOf(int row, int samples)
    {
        return static_cast<float>((1 + row) * std::exp(0.3 * std::sin(samples / 90.0 + row)));
    }

    struct MadeUp {
        std::string name;
        int batch = kBatch;
        double shift = 0; ///< of every value, as another seed has
        bool parts = false;
        std::string config = "{\"start_step\": 0}";
        int steps = kSteps;
        std::vector<Kind> kinds = { Kind::GradReduced };
        bool isCounted = true; ///< records its samples and the time
        int ranks = 1;
    };

    static float valueIn(const MadeUp& run, int row, int step)
    {
        float value = valueOf(row, (step + 1) * run.batch) + static_cast<float>(run.shift);
        if (run.parts && step >= kParts && row == 3)
            value *= 1.01F;
        if ((run.parts && step == kBreaks && row == 1) || (step == kBroken && row == 2 && run.batch == kBatch))
            value = std::nanf("");
        return value;
    }

    static void stage(CapsuleBuilder& builder, std::int64_t stream, const MadeUp& run, int from, int to)
    {
        std::vector<std::string> names;
        for (int row = 0; row < kRows; ++row)
            names.push_back("layers." + std::to_string(row) + ".fc.weight");
        std::vector<std::shared_ptr<const SeriesLayout>> tensors;
        for (const Kind kind : run.kinds)
            tensors.push_back(builder.addLayout(kind, { Stat::Norm, Stat::Nans }, names));
        std::vector<std::string> counted { "loss", "telltale.samples_seen", "telltale.wall_ns" };
        counted.resize(run.isCounted ? counted.size() : 1);
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, counted);
        std::vector<StepBlock> blocks;
        for (int step = from; step < to; ++step) {
            StepBlock tensor;
            tensor.step = Step { step };
            std::vector<float> norms;
            std::vector<std::uint64_t> nans;
            for (int row = 0; row < kRows; ++row) {
                const float value = valueIn(run, row, step);
                norms.push_back(std::isnan(value) ? 1.0F : value);
                nans.push_back(std::isnan(value) ? 1 : 0);
            }
            tensor.columns = { { Stat::Norm, norms }, { Stat::Nans, nans } };
            for (const auto& layout : tensors) {
                tensor.layout = layout;
                blocks.push_back(tensor);
            }
            StepBlock loss;
            loss.layout = scalars;
            loss.step = Step { step };
            std::vector<double> values { 3.0 - 0.001 * step + run.shift, static_cast<double>((step + 1) * run.batch),
                1e18 + 5e8 * step };
            values.resize(counted.size());
            loss.columns = { { Stat::Value, std::move(values) } };
            blocks.push_back(loss);
        }
        builder.stage(stream, std::move(blocks));
        builder.commit();
    }

    static void write(const std::string& path, const MadeUp& run)
    {
        CapsuleBuilder builder(path, run.name);
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        stage(builder, stream, run, 0, run.steps);
        for (int rank = 1; rank < run.ranks; ++rank)
            stage(builder, builder.addAttempt(Rank { rank }, 0), run, 0, run.steps);
        Blob config;
        config.id = config.kind = "config";
        config.name = "config.json";
        config.bytes = run.config;
        builder.stage(stream, {}, {}, {}, { config });
        builder.commit();
        builder.releaseAll();
        builder.finish();
    }

    void writeRuns()
    {
        QVERIFY(m_dir.isValid());
        m_runs = { { "a" }, { "same" }, { "b", kBatch, 0, true, "{\"start_step\": 10}" }, { "seed", kBatch, 0.5 },
            { "other", kBatch, 1.5 }, { "wide", 2 * kBatch }, { "near", kBatch, 1e-5 },
            { "short", 2 * kBatch, 0, false, "{}", 60 },
            { "more", kBatch, 0, false, "{}", kSteps, { Kind::GradReduced, Kind::ExpAvg } },
            { "moments", kBatch, 0, false, "{}", kSteps, { Kind::ExpAvg } }, { "brief", kBatch, 0.25, false, "{}", 60 },
            { "bare", kBatch, 0, false, "{}", kSteps, { Kind::GradReduced, Kind::ExpAvg }, false },
            { "ranks", kBatch, 0, false, "{}", 60, { Kind::GradReduced }, true, 2 },
            { "more ranks", kBatch, 0, false, "{}", 60, { Kind::GradReduced }, true, 2 } };
        for (const MadeUp& run : m_runs)
            write(path(run.name), run);
    }
    std::string path(const std::string& name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }
    const MadeUp& run(const std::string& name) const
    {
        return *std::find_if(m_runs.begin(), m_runs.end(), [&](const MadeUp& one) { return one.name == name; });
    }
    store::RunRef handle(const std::string& name) const
    {
        return std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path(name)), name, name, nullptr });
    }
    std::unique_ptr<store::RunReader> reader(const std::string& name) const
    {
        return CapsuleBuilder::must(store::openReader(*handle(name)));
    }

    void openWindow()
    {
        translations::install(*qApp, QStringLiteral("en"));
        views::Theme::apply(*qApp, views::Theme::Mode::Dark);
        m_pool = std::make_unique<store::QueryPool>(2);
        m_state = std::make_unique<views::ViewState>();
        m_axis = std::make_unique<views::SharedAxis>(m_state.get());
        m_model = std::make_unique<items::RunsModel>();
        std::vector<store::RunSummary> archived;
        for (const MadeUp& one : m_runs) {
            store::RunSummary summary;
            summary.locator = store::RunLocator::ofFile(path(one.name));
            summary.id = summary.name = one.name;
            archived.push_back(summary);
        }
        m_model->setArchived(archived);
        m_host = std::make_unique<QWidget>();
        m_host->resize(1080, 700);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        answerHere(m_pool);
        views::ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        context.runs = m_model.get();
        m_view = new views::CompareView(context, m_host.get());
        m_view->resize(1080, 700);
        const auto catalog = CapsuleBuilder::must(reader("a")->catalog());
        m_state->setRun(handle("a"));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_host->show();
    }
    void closeWindow()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
    }
    void show(const std::string& name)
    {
        const auto catalog = CapsuleBuilder::must(reader(name)->catalog());
        m_state->setRun(handle(name));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
    }
    QString noteText() const
    {
        const QString text = m_view->findChild<QLabel*>(QStringLiteral("compareNote"))->text();
        return QTextDocumentFragment::fromHtml(text).toPlainText();
    }
    void compareWith(const std::vector<std::string>& names)
    {
        std::vector<views::ComparedRun> runs;
        for (const std::string& name : names)
            runs.push_back({ handle(name), CapsuleBuilder::must(reader(name)->catalog()) });
        m_state->setComparedRuns(std::move(runs));
    }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_view->isSettled(), 20'000); }
    /// As a person does.
    void choose(const char* name, const QVariant& data)
    {
        auto* box = m_view->findChild<QComboBox*>(QLatin1String(name));
        const int index = box->findData(data);
        QVERIFY(index >= 0);
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
    }
    QByteArray csv() const
    {
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        return m_view->writeCsv(&buffer) ? buffer.data() : QByteArray();
    }
    static void verifyCell(const views::HeatPicture& picture, const MadeUp& runA, const MadeUp& runB, int row, int step,
        views::HeatScale value)
    {
        const float a = valueIn(runA, row, step);
        const float b = valueIn(runB, row, step);
        const series::CellState state = picture.state(row, step);
        if (std::isnan(a) != std::isnan(b)) {
            QCOMPARE(state, series::CellState::NaN);
            return;
        }
        QCOMPARE(state, series::CellState::Value);
        const bool areEqual = std::isnan(a) || a == b;
        const float expected = value == views::HeatScale::Difference ? (areEqual ? 0 : b - a) : (areEqual ? 1 : b / a);
        QCOMPARE(picture.value(row, step), expected);
    }

    QTemporaryDir m_dir;
    std::vector<MadeUp> m_runs;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<views::ViewState> m_state;
    std::unique_ptr<views::SharedAxis> m_axis;
    std::unique_ptr<items::RunsModel> m_model;
    std::unique_ptr<QWidget> m_host;
    views::CompareView* m_view = nullptr;
};

}
