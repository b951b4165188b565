// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <QBuffer>
#include <QImage>

#include <telltale/common/annotator.h>
#include <telltale/common/dataview.h>
#include <telltale/common/steeringstate.h>
#include <telltale/items/runsmodel.h>

#include "viewonrun.h"

namespace telltale::test {

/// A live run that says much of itself, and views of it. A test class has it as a base, calls beginRun() in its init()
/// and endRun() in its cleanup(). Thread: the test's.
class TellingRun {
protected:
    static constexpr int kSteps = 40;

    void beginRun()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_builder = std::make_unique<CapsuleBuilder>(m_dir->filePath(QStringLiteral("run.telltale")).toStdString());
        for (const int rank : { 0, 1 })
            m_streams[rank] = m_builder->addAttempt(Rank { rank }, 0);
        write();
    }
    void endRun()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        m_annotator.reset();
        m_builder.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    Blob blob(const std::string& kind, std::int64_t step, std::string bytes, const std::string& name = "one")
    {
        Blob one;
        one.id = kind + std::to_string(++m_blobs);
        one.kind = kind;
        one.name = name;
        one.step = Step { step };
        one.bytes = std::move(bytes);
        return one;
    }

    void stage(int rank, std::vector<Blob> blobs, std::vector<StepBlock> blocks = {}, std::vector<Event> events = {})
    {
        m_builder->stage(m_streams[rank], std::move(blocks), {}, std::move(events), std::move(blobs));
        m_builder->commit();
    }

    template <typename View> View* open(bool mayWrite = true)
    {
        m_host.reset();
        m_pool = std::make_unique<store::QueryPool>(1);
        answerHere(m_pool);
        m_state = std::make_unique<views::ViewState>();
        if (mayWrite) {
            m_annotator = std::make_unique<views::Annotator>();
            m_annotator->folder = m_dir->path();
            m_annotator->write = [this](const store::RunLocator&, Event event) {
                append(std::move(event));
                return true;
            };
        }
        m_axis = std::make_unique<views::SharedAxis>(m_state.get());
        m_host = std::make_unique<QWidget>();
        m_host->resize(1060, 720);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        auto* view = new View(
            { m_state.get(), m_axis.get(), m_pool.get(), &m_steering, m_annotator.get(), &m_runs }, m_host.get());
        auto handle = std::make_shared<store::RunHandle>(m_builder->liveHandle());
        auto reader = CapsuleBuilder::must(store::openReader(*handle));
        view->resize(1060, 720);
        m_state->setRun(handle);
        m_state->setCatalog(CapsuleBuilder::must(reader->catalog()));
        m_state->setFullRange({ Step { 0 }, Step { kSteps - 1 } });
        m_host->show();
        settle(view);
        return view;
    }

    static void settle(views::DataView* view)
    {
        QVERIFY(QTest::qWaitFor([view] { return view->isSettled(); }, 20'000));
        QVERIFY2(view->trouble().isEmpty(), qPrintable(view->trouble()));
    }

    void append(Event event)
    {
        event.author = "somebody";
        store::OwnRecord record;
        record.token = 1;
        record.event = std::move(event);
        m_builder->writer().stageRecord(std::move(record));
        m_builder->commit();
        auto reader = CapsuleBuilder::must(store::openReader(m_builder->liveHandle()));
        m_state->appendLog(CapsuleBuilder::must(reader->log({})));
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<CapsuleBuilder> m_builder;
    std::map<int, std::int64_t> m_streams;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<views::ViewState> m_state;
    std::unique_ptr<views::Annotator> m_annotator;
    views::SteeringState m_steering;
    items::RunsModel m_runs;
    std::unique_ptr<QWidget> m_host;

private:
    static constexpr const char* kStructure = R"({"name":"","type":"GPT","parameters":[],"children":[
      {"name":"emb","type":"Embedding","parameters":[{"name":"emb.weight","shape":[100,2,2,2],"dtype":"bfloat16",
        "trainable":true,"device":"cuda:0"}],"children":[]},
      {"name":"layers","type":"ModuleList","parameters":[],"children":[
        {"name":"layers.0","type":"Block","parameters":[],"children":[
          {"name":"layers.0.fc","type":"Linear","parameters":[
            {"name":"layers.0.fc.weight","shape":[8,4],"dtype":"float32","trainable":false,"device":"cpu"},
            {"name":"layers.0.fc.bias","shape":[4],"dtype":"float32","trainable":true,"device":"cpu"}],"children":[]}]}]},
      {"name":"head","type":"Linear","parameters":[{"name":"head.weight","shape":[100,2,2,2],"dtype":"bfloat16",
        "trainable":true,"device":"cuda:0","shared":"emb.weight"}],"children":[]}]})";

    static std::string pngOf(int gray)
    {
        QImage image(8, 6, QImage::Format_Grayscale8);
        image.fill(gray);
        QByteArray bytes;
        QBuffer buffer(&bytes);
        buffer.open(QIODevice::WriteOnly);
        image.save(&buffer, "PNG");
        return bytes.toStdString();
    }
    void write()
    {
        std::string console;
        for (int i = 0; i < 5000; ++i)
            console += std::to_string(1'700'000'000'000 + i) + " o line " + std::to_string(i) + "\n";
        Event tags;
        tags.kind = "tags";
        tags.json = R"({"tags": ["base"]})";
        Event notes;
        notes.kind = "notes";
        notes.json = R"({"notes": "written by the program"})";
        const auto scalars = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        const auto rss = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "system/rss_bytes" });
        const auto cpu = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "system/cpu_percent" });
        const auto gradients = m_builder->addLayout(Kind::GradReduced, { Stat::Norm }, { "layers.0.fc.weight" });
        std::vector<StepBlock> blocks;
        const auto add = [&](const std::shared_ptr<const SeriesLayout>& layout, int step, double value) {
            StepBlock block;
            block.layout = layout;
            block.step = Step { step };
            if (layout->kind == Kind::Scalar)
                block.columns = { { Stat::Value, std::vector<double> { value } } };
            else
                block.columns = { { Stat::Norm, std::vector<float> { static_cast<float>(value) } } };
            blocks.push_back(std::move(block));
        };
        for (int step = 0; step < kSteps; ++step) {
            add(scalars, step, 3.0 - step / 40.0);
            add(gradients, step, 1.0);
            add(rss, step, 1.5 * 1024 * 1024 * 1024);
            add(cpu, step, step == kSteps - 1 ? std::nan("") : 90.0 + step % 7);
        }
        stage(0,
            { blob("hyperparameters", 0, R"({"optimizer": {"lr": 0.001, "name": "Adam"}, "seed": 7})"),
                blob("environment", 0, R"({"host": "node-a", "torch": "2.13.0", "command": "python train.py"})"),
                blob("config", 0, R"({"wg_distribution": true, "targets": {"layers.0": {}}})", "config.json"),
                blob("structure", 0, kStructure, "model"),
                blob("stack", 1,
                    R"({"0:layers.0.fc": "File /home/me/my model.py, line 41, in forward, \n y = f(x) \n"})",
                    "stack_info"),
                blob("text", 10, "text of 10", "sample"), blob("text", 20, "text of 20", "sample"),
                blob("text", 30, "text of 30", "sample"), blob("image", 15, pngOf(100), "map"),
                blob("image", 30, pngOf(200), "map"), blob("console", 1, console),
                blob("console", 2, "no such line\n1700000008000 e a warning\n") },
            std::move(blocks), { tags, notes });
        blocks.clear();
        add(rss, 0, 1024.0 * 1024 * 1024);
        stage(1,
            { blob("environment", 0, R"({"host": "node-b", "torch": "2.13.0", "command": "python train.py"})"),
                blob("text", 3, "of rank 1", "sample") },
            std::move(blocks));
    }

    int m_blobs = 0;
    std::unique_ptr<views::SharedAxis> m_axis;
};

}
