<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>AttentionView</name>
    <message numerus="yes">
        <source>L%1, %n heads</source>
        <translation>
            <numerusform>L%1, %n head</numerusform>
            <numerusform>L%1, %n heads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CommPicture</name>
    <message numerus="yes">
        <source>%1 (%n ranks)</source>
        <translation>
            <numerusform>%1 (%n rank)</numerusform>
            <numerusform>%1 (%n ranks)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareRuns</name>
    <message numerus="yes">
        <source>of %n runs</source>
        <translation>
            <numerusform>of %n run</numerusform>
            <numerusform>of %n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n runs</source>
        <translation>
            <numerusform>%1 of %n run</numerusform>
            <numerusform>%1 of %n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 to %2 of %n runs</source>
        <translation>
            <numerusform>%1 to %2 of %n run</numerusform>
            <numerusform>%1 to %2 of %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ComparedCurves</name>
    <message numerus="yes">
        <source>, beside %n runs</source>
        <translation>
            <numerusform>, beside %n run</numerusform>
            <numerusform>, beside %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CurveLegend</name>
    <message numerus="yes">
        <source>%n more names below</source>
        <translation>
            <numerusform>%n more name below</numerusform>
            <numerusform>%n more names below</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more names above</source>
        <translation>
            <numerusform>%n more name above</numerusform>
            <numerusform>%n more names above</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks below</source>
        <translation>
            <numerusform>%n more rank below</numerusform>
            <numerusform>%n more ranks below</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks above</source>
        <translation>
            <numerusform>%n more rank above</numerusform>
            <numerusform>%n more ranks above</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more runs below</source>
        <translation>
            <numerusform>%n more run below</numerusform>
            <numerusform>%n more runs below</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more runs above</source>
        <translation>
            <numerusform>%n more run above</numerusform>
            <numerusform>%n more runs above</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more lines below</source>
        <translation>
            <numerusform>%n more line below</numerusform>
            <numerusform>%n more lines below</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more lines above</source>
        <translation>
            <numerusform>%n more line above</numerusform>
            <numerusform>%n more lines above</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n runs have none</source>
        <translation>
            <numerusform>%n run has none</numerusform>
            <numerusform>%n runs have none</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>OneRunNote</name>
    <message numerus="yes">
        <source>one of %n runs</source>
        <translation>
            <numerusform>one of %n run</numerusform>
            <numerusform>one of %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::items::ConnectionsModel</name>
    <message numerus="yes">
        <source>%1, %2
%n reconnect(s), </source>
        <translation>
            <numerusform>%1, %2
%n reconnect, </numerusform>
            <numerusform>%1, %2
%n reconnects, </numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::items::RunsModel</name>
    <message numerus="yes">
        <source>started %1, %n ranks</source>
        <translation>
            <numerusform>started %1, %n rank</numerusform>
            <numerusform>started %1, %n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n critical incidents</source>
        <translation>
            <numerusform>%n critical incident</numerusform>
            <numerusform>%n critical incidents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warnings</source>
        <translation>
            <numerusform>%n warning</numerusform>
            <numerusform>%n warnings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::notify::DesktopChannel</name>
    <message numerus="yes">
        <source>Telltale: %n more incident(s)</source>
        <translation>
            <numerusform>Telltale: %n more incident</numerusform>
            <numerusform>Telltale: %n more incidents</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::AlertsDialog</name>
    <message numerus="yes">
        <source>The file names %n more receiver(s), which stay.</source>
        <translation>
            <numerusform>The file names %n more receiver, which stays.</numerusform>
            <numerusform>The file names %n more receivers, which stay.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::ArchiveActions</name>
    <message numerus="yes">
        <source>%n runs</source>
        <translation>
            <numerusform>1 run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::CollectSwitch</name>
    <message numerus="yes">
        <source>dynamic_on of %n run(s)</source>
        <translation>
            <numerusform>dynamic_on of %n run</numerusform>
            <numerusform>dynamic_on of %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::MonitoringCost</name>
    <message numerus="yes">
        <source>%n rank(s) do not report it (%1): their agent is older, or has only just begun.</source>
        <translation>
            <numerusform>%n rank does not report it (%1): its agent is older, or has only just begun.</numerusform>
            <numerusform>%n ranks do not report it (%1): their agents are older, or have only just begun.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::RunActions</name>
    <message numerus="yes">
        <source>Delete %n runs (%1)? They go to the trash of the data directory.</source>
        <translation>
            <numerusform>Delete 1 run (%1)? It goes to the trash of the data directory.</numerusform>
            <numerusform>Delete %n runs (%1)? They go to the trash of the data directory.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n runs</source>
        <translation>
            <numerusform>1 run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::StatusLine</name>
    <message numerus="yes">
        <source>%n agent(s) on %1</source>
        <translation>
            <numerusform>%n agent on %1</numerusform>
            <numerusform>%n agents on %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n agent(s)</source>
        <translation>
            <numerusform>%n agent</numerusform>
            <numerusform>%n agents</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::TrashDialog</name>
    <message numerus="yes">
        <source>%n runs take %1. They stay here until you delete them for good.</source>
        <translation>
            <numerusform>1 run takes %1. It stays here until you delete it for good.</numerusform>
            <numerusform>%n runs take %1. They stay here until you delete them for good.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n runs (%1) for good? Nothing brings them back.</source>
        <translation>
            <numerusform>Delete 1 run (%1) for good? Nothing brings it back.</numerusform>
            <numerusform>Delete %n runs (%1) for good? Nothing brings them back.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::ViewTabs</name>
    <message numerus="yes">
        <source>%n incidents that nobody has acknowledged</source>
        <translation>
            <numerusform>%n incident that nobody has acknowledged</numerusform>
            <numerusform>%n incidents that nobody has acknowledged</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::AnomaliesView</name>
    <message numerus="yes">
        <source>%n incidents</source>
        <translation>
            <numerusform>%n incident</numerusform>
            <numerusform>%n incidents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n incidents</source>
        <translation>
            <numerusform>%1 of %n incident</numerusform>
            <numerusform>%1 of %n incidents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionCanvas</name>
    <message numerus="yes">
        <source>step %1, %n ranks</source>
        <translation>
            <numerusform>step %1, %n rank</numerusform>
            <numerusform>step %1, %n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>mean of %n micro steps</source>
        <translation>
            <numerusform>mean of %n micro step</numerusform>
            <numerusform>mean of %n micro steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionMap</name>
    <message numerus="yes">
        <source>largest less smallest of %n ranks</source>
        <translation>
            <numerusform>largest less smallest of %n rank</numerusform>
            <numerusform>largest less smallest of %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionView</name>
    <message numerus="yes">
        <source>%n selected heads</source>
        <translation>
            <numerusform>%n selected head</numerusform>
            <numerusform>%n selected heads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>the %n heads that differ most between ranks</source>
        <translation>
            <numerusform>the head that differs most between ranks</numerusform>
            <numerusform>the %n heads that differ most between ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n heads</source>
        <translation>
            <numerusform>%n head</numerusform>
            <numerusform>%n heads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>the %n heads of lowest entropy</source>
        <translation>
            <numerusform>the head of lowest entropy</numerusform>
            <numerusform>the %n heads of lowest entropy</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>all %n heads</source>
        <translation>
            <numerusform>the only head</numerusform>
            <numerusform>all %n heads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::CalmWords</name>
    <message numerus="yes">
        <source>%1 rules looked at %2 tensors and scalars of %n ranks.</source>
        <translation>
            <numerusform>%1 rules looked at %2 tensors and scalars of %n rank.</numerusform>
            <numerusform>%1 rules looked at %2 tensors and scalars of %n ranks.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ChangesTree</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::CommLane</name>
    <message numerus="yes">
        <source>in %n calls</source>
        <translation>
            <numerusform>in %n call</numerusform>
            <numerusform>in %n calls</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::CompareView</name>
    <message numerus="yes">
        <source>%n rows only in A</source>
        <translation>
            <numerusform>%n row only in A</numerusform>
            <numerusform>%n rows only in A</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rows only in B</source>
        <translation>
            <numerusform>%n row only in B</numerusform>
            <numerusform>%n rows only in B</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Press “Choose runs” to compare up to %n others with “%1”.</source>
        <translation>
            <numerusform>Press “Choose runs” to compare another one with “%1”.</numerusform>
            <numerusform>Press “Choose runs” to compare up to %n others with “%1”.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigForm</name>
    <message numerus="yes">
        <source>%n field(s)</source>
        <translation>
            <numerusform>%n field</numerusform>
            <numerusform>%n fields</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n field(s), %1 shown</source>
        <translation>
            <numerusform>%n field, %1 shown</numerusform>
            <numerusform>%n fields, %1 shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigView</name>
    <message numerus="yes">
        <source>Fix %n error(s) first.</source>
        <translation>
            <numerusform>Fix %n error first.</numerusform>
            <numerusform>Fix %n errors first.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>draft: %n change(s)</source>
        <translation>
            <numerusform>draft: %n change</numerusform>
            <numerusform>draft: %n changes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n revision(s)</source>
        <translation>
            <numerusform>%n revision</numerusform>
            <numerusform>%n revisions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 (%n more, F8 shows the next)</source>
        <translation>
            <numerusform>%1 (%n more, F8 shows the next)</numerusform>
            <numerusform>%1 (%n more, F8 shows the next)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ConsolePane</name>
    <message numerus="yes">
        <source>%n lines</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n lines</source>
        <translation>
            <numerusform>%1 of %n line</numerusform>
            <numerusform>%1 of %n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::CurvesView</name>
    <message numerus="yes">
        <source>%1 of %n selected series</source>
        <translation>
            <numerusform>%1 of %n selected series</numerusform>
            <numerusform>%1 of %n selected series</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 of %n selected series</source>
        <translation>
            <numerusform>%1 of %2 of %n selected series</numerusform>
            <numerusform>%1 of %2 of %n selected series</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::DistributionView</name>
    <message numerus="yes">
        <source>%n more selected</source>
        <comment>tensors that have no room</comment>
        <translation>
            <numerusform>%n more selected</numerusform>
            <numerusform>%n more selected</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n elements</source>
        <translation>
            <numerusform>%n element</numerusform>
            <numerusform>%n elements</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more match the filter</source>
        <comment>tensors that have no room</comment>
        <translation>
            <numerusform>%n more matches the filter</numerusform>
            <numerusform>%n more match the filter</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::FieldRow</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::HeadMapsPanel</name>
    <message numerus="yes">
        <source>  ·  some of %n recorded steps in sight: zoom in to see more</source>
        <translation>
            <numerusform>  ·  some of %n recorded step in sight: zoom in to see more</numerusform>
            <numerusform>  ·  some of %n recorded steps in sight: zoom in to see more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  %n more are not drawn: select some</source>
        <translation>
            <numerusform>  ·  %n more is not drawn: select some</numerusform>
            <numerusform>  ·  %n more are not drawn: select some</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  none of the selected heads, these %n are recorded</source>
        <translation>
            <numerusform>  ·  none of the selected heads, this one is recorded</numerusform>
            <numerusform>  ·  none of the selected heads, these %n are recorded</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  %n selected heads have no map</source>
        <translation>
            <numerusform>  ·  %n selected head has no map</numerusform>
            <numerusform>  ·  %n selected heads have no map</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentCard</name>
    <message numerus="yes">
        <source>%n later findings folded</source>
        <translation>
            <numerusform>%n later finding folded</numerusform>
            <numerusform>%n later findings folded</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n findings</source>
        <translation>
            <numerusform>%n finding</numerusform>
            <numerusform>%n findings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentReach</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentText</name>
    <message numerus="yes">
        <source> and %n more</source>
        <translation>
            <numerusform> and %n more</numerusform>
            <numerusform> and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentTimes</name>
    <message numerus="yes">
        <source>for %n steps so far</source>
        <translation>
            <numerusform>for %n step so far</numerusform>
            <numerusform>for %n steps so far</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n days</source>
        <translation>
            <numerusform>%n day</numerusform>
            <numerusform>%n days</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>for %n steps, until the run&apos;s end</source>
        <translation>
            <numerusform>for %n step, until the run&apos;s end</numerusform>
            <numerusform>for %n steps, until the run&apos;s end</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>seen over %n steps</source>
        <translation>
            <numerusform>seen over %n step</numerusform>
            <numerusform>seen over %n steps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::LoggedCards</name>
    <message numerus="yes">
        <source>the first %1 of %n names</source>
        <translation>
            <numerusform>the first %1 of %n name</numerusform>
            <numerusform>the first %1 of %n names</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::OverviewCanvas</name>
    <message numerus="yes">
        <source>on all %n ranks</source>
        <translation>
            <numerusform>on %n rank</numerusform>
            <numerusform>on all %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::OverviewView</name>
    <message numerus="yes">
        <source>%1, %n ranks, attempt %2</source>
        <translation>
            <numerusform>%1, %n rank, attempt %2</numerusform>
            <numerusform>%1, %n ranks, attempt %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RankTableModel</name>
    <message numerus="yes">
        <source>Longer than the others takes rank %1.</source>
        <translation>
            <numerusform>Longer than the others takes rank %1.</numerusform>
            <numerusform>Longer than the others take ranks %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Behind the store is rank %1.</source>
        <translation>
            <numerusform>Behind the store is rank %1.</numerusform>
            <numerusform>Behind the store are ranks %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Samples were lost of rank %1: views draw them as gaps.</source>
        <translation>
            <numerusform>Samples were lost of rank %1: views draw them as gaps.</numerusform>
            <numerusform>Samples were lost of ranks %1: views draw them as gaps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offline is rank %1: what it had not sent is not known.</source>
        <translation>
            <numerusform>Offline is rank %1: what it had not sent is not known.</numerusform>
            <numerusform>Offline are ranks %1: what they had not sent is not known.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Earlier than the others ended rank %1.</source>
        <translation>
            <numerusform>Earlier than the others ended rank %1.</numerusform>
            <numerusform>Earlier than the others ended ranks %1.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RanksSide</name>
    <message numerus="yes">
        <source>last %n steps</source>
        <translation>
            <numerusform>last step</numerusform>
            <numerusform>last %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n steps up to %1</source>
        <translation>
            <numerusform>%n step up to %1</numerusform>
            <numerusform>%n steps up to %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RanksView</name>
    <message numerus="yes">
        <source>All %n ranks</source>
        <translation>
            <numerusform>The one rank</numerusform>
            <numerusform>All %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ReplicaCanvas</name>
    <message numerus="yes">
        <source>bit for bit the same at all %n steps looked at.</source>
        <translation>
            <numerusform>bit for bit the same at the one step looked at.</numerusform>
            <numerusform>bit for bit the same at all %n steps looked at.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tensors are not finite</source>
        <translation>
            <numerusform>%n tensor is not finite</numerusform>
            <numerusform>%n tensors are not finite</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tensors without spread</source>
        <translation>
            <numerusform>%n tensor without spread</numerusform>
            <numerusform>%n tensors without spread</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n ranks: </source>
        <translation>
            <numerusform>%n rank: </numerusform>
            <numerusform>%n ranks: </numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>nothing on %n ranks</source>
        <translation>
            <numerusform>nothing on %n rank</numerusform>
            <numerusform>nothing on %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ReplicaRanks</name>
    <message numerus="yes">
        <source>and %n more ranks</source>
        <translation>
            <numerusform>and %n more rank</numerusform>
            <numerusform>and %n more ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RevisionList</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RuleLabView</name>
    <message numerus="yes">
        <source>%n appear</source>
        <translation>
            <numerusform>%n appears</numerusform>
            <numerusform>%n appear</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n vanish</source>
        <translation>
            <numerusform>%n vanishes</numerusform>
            <numerusform>%n vanish</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ScoreTree</name>
    <message numerus="yes">
        <source>All %n runs</source>
        <translation>
            <numerusform>The run</numerusform>
            <numerusform>All %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::StructureModel</name>
    <message numerus="yes">
        <source>%n kinds</source>
        <translation>
            <numerusform>%n kind</numerusform>
            <numerusform>%n kinds</numerusform>
        </translation>
    </message>
</context>
</TS>
