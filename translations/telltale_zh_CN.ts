<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AbsentKind</name>
    <message>
        <source>%1 itself has no %2: select %3.</source>
        <translation>%1 本身没有“%2”：请选择 %3。</translation>
    </message>
</context>
<context>
    <name>Alert</name>
    <message>
        <source>it answered 200, but not as this service does; check the address and the template</source>
        <translation>对方回应 200，但不像此服务的回应；请检查地址和模板</translation>
    </message>
    <message>
        <source>it answered %1, that it has moved; give the new address</source>
        <translation>对方回应 %1，表示已迁移；请填写新地址</translation>
    </message>
    <message>
        <source>it answered %1: %2</source>
        <translation>对方回应 %1：%2</translation>
    </message>
    <message>
        <source>it answered %1</source>
        <translation>对方回应 %1</translation>
    </message>
    <message>
        <source>it refused with %1 and no reason</source>
        <translation>对方拒绝（%1），未说明原因</translation>
    </message>
    <message>
        <source>it refused with %1 (%2)</source>
        <translation>对方拒绝，代码 %1（%2）</translation>
    </message>
    <message>
        <source>it did not answer within %1 s</source>
        <translation>%1 秒内没有回应</translation>
    </message>
    <message>
        <source>it cannot be reached (%1)</source>
        <translation>无法连接（%1）</translation>
    </message>
    <message>
        <source>it was ended, as it took more than %1 s</source>
        <translation>运行超过 %1 秒，已被终止</translation>
    </message>
    <message>
        <source>it crashed</source>
        <translation>程序崩溃</translation>
    </message>
    <message>
        <source>it ended with %1: %2</source>
        <translation>以 %1 结束：%2</translation>
    </message>
    <message>
        <source>it ended with %1</source>
        <translation>以 %1 结束</translation>
    </message>
    <message>
        <source>it cannot be started (%1)</source>
        <translation>无法启动（%1）</translation>
    </message>
    <message>
        <source>it was shown</source>
        <translation>已显示</translation>
    </message>
    <message>
        <source>webhook %1</source>
        <translation>Webhook %1</translation>
    </message>
    <message>
        <source>command %1</source>
        <translation>命令 %1</translation>
    </message>
    <message>
        <source>desktop</source>
        <translation>桌面</translation>
    </message>
    <message>
        <source>it is no JSON</source>
        <translation>它不是 JSON</translation>
    </message>
    <message>
        <source>&apos;telltale alerts --schema&apos; says what may stand there</source>
        <translation>“telltale alerts --schema”会列出可以写的内容</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be an object</source>
        <translation>“%1”必须是对象</translation>
    </message>
    <message>
        <source>there is no &quot;%1&quot;</source>
        <translation>没有“%1”</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be true or false</source>
        <translation>“%1”必须是 true 或 false</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be a whole number from %2 to %3</source>
        <translation>“%1”必须是 %2 到 %3 的整数</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be a text</source>
        <translation>“%1”必须是文本</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be an array of at most %2</source>
        <translation>“%1”必须是最多 %2 项的数组</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be warning or critical</source>
        <translation>“%1”必须是 warning 或 critical</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be generic, slack, feishu or dingtalk</source>
        <translation>“%1”必须是 generic、slack、feishu 或 dingtalk</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is for feishu and dingtalk, which sign with it</source>
        <translation>“%1”仅用于以它签名的 feishu 和 dingtalk</translation>
    </message>
    <message>
        <source>&quot;%1&quot; must be the program and its words: [&quot;/usr/bin/logger&quot;, &quot;-t&quot;, &quot;telltale&quot;]</source>
        <translation>“%1”必须是程序及其参数：[&quot;/usr/bin/logger&quot;, &quot;-t&quot;, &quot;telltale&quot;]</translation>
    </message>
    <message>
        <source>&quot;%1&quot; cannot be posted to: %2</source>
        <translation>无法发送到“%1”：%2</translation>
    </message>
    <message>
        <source>the document</source>
        <translation>整个文档</translation>
    </message>
    <message>
        <source>there is no address</source>
        <translation>没有地址</translation>
    </message>
    <message>
        <source>the address must begin with https:// or http://</source>
        <translation>地址必须以 https:// 或 http:// 开头</translation>
    </message>
    <message>
        <source>the address has a blank in it</source>
        <translation>地址中有空白</translation>
    </message>
    <message>
        <source>the address has no host</source>
        <translation>地址中没有主机</translation>
    </message>
    <message>
        <source>cannot read %1: %2</source>
        <translation>无法读取 %1：%2</translation>
    </message>
    <message>
        <source>check the permissions of that file</source>
        <translation>请检查该文件的权限</translation>
    </message>
    <message>
        <source>%1 is larger than 1 MiB</source>
        <translation>%1 大于 1 MiB</translation>
    </message>
    <message>
        <source>it cannot be a list of alerts</source>
        <translation>它不可能是告警设置</translation>
    </message>
    <message>
        <source>cannot write %1: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>check the disk and the permissions of that folder</source>
        <translation>请检查磁盘和该文件夹的权限</translation>
    </message>
</context>
<context>
    <name>AttentionView</name>
    <message numerus="yes">
        <source>L%1, %n heads</source>
        <translation>
            <numerusform>L%1，%n 个头</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CommPicture</name>
    <message numerus="yes">
        <source>%1 (%n ranks)</source>
        <translation>
            <numerusform>%1（%n 个 rank）</numerusform>
        </translation>
    </message>
    <message>
        <source>ms in calls</source>
        <translation>调用时间，ms</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>calls</source>
        <translation>调用次数</translation>
    </message>
</context>
<context>
    <name>CompareRuns</name>
    <message>
        <source>median</source>
        <translation>中位数</translation>
    </message>
    <message numerus="yes">
        <source>of %n runs</source>
        <translation>
            <numerusform>共 %n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>range</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <comment>the range of several runs</comment>
        <translation>%1 至 %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n runs</source>
        <translation>
            <numerusform>%n 个运行中的 %1 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 to %2 of %n runs</source>
        <translation>
            <numerusform>%n 个运行中的 %1 至 %2 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareWords</name>
    <message>
        <source>Nothing was measured in both at steps %1 to %2.</source>
        <translation>第 %1 至 %2 步没有两者都测量的内容。</translation>
    </message>
    <message>
        <source>Equal at all steps from %1 to %2.</source>
        <translation>第 %1 至 %2 步全部相同。</translation>
    </message>
    <message>
        <source>Equal to %1 at all steps from %2 to %3.</source>
        <translation>在容差 %1 内，第 %2 至 %3 步全部相同。</translation>
    </message>
    <message>
        <source>Equal until step %1</source>
        <translation>直到第 %1 步相同</translation>
    </message>
    <message>
        <source>Equal to %1 until step %2</source>
        <translation>在容差 %1 内直到第 %2 步相同</translation>
    </message>
    <message>
        <source>.</source>
        <translation>。</translation>
    </message>
    <message>
        <source>%1 of %2 values of %3 series differ</source>
        <translation>%3 个序列的 %2 个值中有 %1 个不同</translation>
    </message>
    <message>
        <source>%1 series only in A</source>
        <translation>%1 个序列仅 A 有</translation>
    </message>
    <message>
        <source>%1 series only in B</source>
        <translation>%1 个序列仅 B 有</translation>
    </message>
    <message>
        <source>%1 values without a counterpart left out</source>
        <translation>另有 %1 个值没有对应值，未计入</translation>
    </message>
    <message>
        <source>signs of %1 of %2 gradients suspicious</source>
        <translation>%2 个梯度中有 %1 个符号可疑</translation>
    </message>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>config changes</source>
        <translation>配置变更</translation>
    </message>
    <message>
        <source>hyperparameters</source>
        <translation>超参数</translation>
    </message>
    <message>
        <source>environment</source>
        <translation>环境</translation>
    </message>
    <message>
        <source>run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>%1; first: step %2, rank %3, %4 (%5; %6): %7 against %8</source>
        <translation>%1；最先不同：第 %2 步，rank %3，%4（%5；%6）：%7 对 %8</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Different from step %1 on: rank %2, %3 (%4; %5): %6 against %7</source>
        <translation>从第 %1 步起不同：rank %2，%3（%4；%5）：%6 对 %7</translation>
    </message>
    <message>
        <source> (by %1 of the larger)</source>
        <translation>（相差为较大者的 %1）</translation>
    </message>
    <message>
        <source>first: step %1, rank %2, %3: %4</source>
        <translation>首个：第 %1 步，rank %2，%3：%4</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <comment>steps of a run</comment>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <comment>from which a change of a config is in force</comment>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>in this map: step %1, %2</source>
        <translation>此图中：第 %1 步，%2</translation>
    </message>
    <message>
        <source>of the modules shown: nothing differs</source>
        <translation>所显示的模块：没有差异</translation>
    </message>
    <message>
        <source>of the modules shown: step %1, %2</source>
        <translation>所显示的模块：第 %1 步，%2</translation>
    </message>
    <message>
        <source>at most %1 of the signs are the same</source>
        <translation>至多 %1 的符号相同</translation>
    </message>
    <message>
        <source>only %1 of the signs are the same</source>
        <translation>只有 %1 的符号相同</translation>
    </message>
    <message>
        <source>the largest possible share of equal signs falls from %1 to %2</source>
        <translation>符号相同的最大可能比例从 %1 降到 %2</translation>
    </message>
    <message>
        <source>the share of equal signs falls from %1 to %2</source>
        <translation>符号相同的比例从 %1 降到 %2</translation>
    </message>
</context>
<context>
    <name>ComparedCurves</name>
    <message numerus="yes">
        <source>, beside %n runs</source>
        <translation>
            <numerusform>，与 %n 个运行对比</numerusform>
        </translation>
    </message>
    <message>
        <source>, beside %1</source>
        <translation>，与 %1 对比</translation>
    </message>
</context>
<context>
    <name>CurveLegend</name>
    <message>
        <source>ranks %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>%1 not drawn</source>
        <translation>%1 条未画出</translation>
    </message>
    <message>
        <source>%1 above, %2 below</source>
        <translation>上方 %1 条，下方 %2 条</translation>
    </message>
    <message numerus="yes">
        <source>%n more names below</source>
        <translation>
            <numerusform>下方还有 %n 个名称</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more names above</source>
        <translation>
            <numerusform>上方还有 %n 个名称</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks below</source>
        <translation>
            <numerusform>下方还有 %n 个 rank</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more ranks above</source>
        <translation>
            <numerusform>上方还有 %n 个 rank</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more runs below</source>
        <translation>
            <numerusform>下方还有 %n 个运行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more runs above</source>
        <translation>
            <numerusform>上方还有 %n 个运行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more lines below</source>
        <translation>
            <numerusform>下方还有 %n 条</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more lines above</source>
        <translation>
            <numerusform>上方还有 %n 条</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n runs have none</source>
        <translation>
            <numerusform>%n 个运行没有</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 has none</source>
        <comment>a compared run, of the curves</comment>
        <translation>%1没有</translation>
    </message>
    <message>
        <source>show %1 more</source>
        <translation>再显示 %1 条</translation>
    </message>
</context>
<context>
    <name>DifferenceMap</name>
    <message>
        <source>%1 has nothing beside these steps</source>
        <translation>%1 没有与这些步对应的数据</translation>
    </message>
    <message>
        <source>%1 has no step before %2</source>
        <translation>%1 在第 %2 步之前没有数据</translation>
    </message>
    <message>
        <source>%1 has no step after %2</source>
        <translation>%1 在第 %2 步之后没有数据</translation>
    </message>
</context>
<context>
    <name>Distribution</name>
    <message>
        <source>elements</source>
        <translation>元素数</translation>
    </message>
    <message>
        <source>share of elements</source>
        <translation>元素占比</translation>
    </message>
</context>
<context>
    <name>Glyphs</name>
    <message>
        <source>not collected</source>
        <translation>未采集</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>缺口</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>no elements</source>
        <translation>无元素</translation>
    </message>
    <message>
        <source>%1 left out</source>
        <comment>of a value over the finite elements: the others</comment>
        <translation>不含 %1</translation>
    </message>
</context>
<context>
    <name>HeadValue</name>
    <message>
        <source>entropy / ln n</source>
        <translation>熵 / ln n</translation>
    </message>
</context>
<context>
    <name>HeatGutter</name>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
</context>
<context>
    <name>HeatLegend</name>
    <message>
        <source>each step</source>
        <translation>逐步</translation>
    </message>
    <message>
        <source>largest of %1 steps</source>
        <translation>%1 步中的最大值</translation>
    </message>
    <message>
        <source>smallest of %1 steps</source>
        <translation>%1 步中的最小值</translation>
    </message>
    <message>
        <source>sum of %1 steps</source>
        <translation>%1 步的总和</translation>
    </message>
    <message>
        <source>mean of %1 steps</source>
        <translation>%1 步的均值</translation>
    </message>
    <message>
        <source>in MAD of each row</source>
        <translation>以各行自身 MAD 计</translation>
    </message>
    <message>
        <source>own median</source>
        <translation>自身中位数</translation>
    </message>
    <message>
        <source>, deviation</source>
        <translation>，偏离</translation>
    </message>
    <message>
        <source>B − A</source>
        <translation>B − A</translation>
    </message>
    <message>
        <source>B ÷ A</source>
        <translation>B ÷ A</translation>
    </message>
    <message>
        <source>, difference</source>
        <translation>，差值</translation>
    </message>
    <message>
        <source>, ratio</source>
        <translation>，比值</translation>
    </message>
    <message>
        <source>of each run</source>
        <translation>各运行取值</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>0 where finite</source>
        <translation>有限值均为 0</translation>
    </message>
    <message>
        <source>0 everywhere</source>
        <translation>处处为 0</translation>
    </message>
    <message>
        <source>B − A, symlog</source>
        <translation>B − A，对称对数</translation>
    </message>
    <message>
        <source>one step in %1</source>
        <translation>每 %1 步一次</translation>
    </message>
</context>
<context>
    <name>Incident</name>
    <message>
        <source>an element is %1</source>
        <translation>有元素为 %1</translation>
    </message>
    <message>
        <source>the value is %1</source>
        <translation>值为 %1</translation>
    </message>
    <message>
        <source>%1 of %2 elements</source>
        <translation>%2 个元素中有 %1</translation>
    </message>
    <message>
        <source>its largest magnitude is %1, %2 times below the limit of its type, %3</source>
        <translation>其最大绝对值为 %1，离其类型上限 %3 还有 %2 倍</translation>
    </message>
    <message>
        <source>the norm of %1 is %2 times its usual %3 (z %4)</source>
        <translation>%1 的范数是平常值 %3 的 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>the norm of %1 is %2 times below its usual %3 (z %4)</source>
        <translation>%1 的范数比平常值 %3 低 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>the value of %1 is %2 times its usual %3 (z %4)</source>
        <translation>%1 的值是平常值 %3 的 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>the value of %1 is %2 times below its usual %3 (z %4)</source>
        <translation>%1 的值比平常值 %3 低 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>has been exactly 0 for %1 steps; it was about %2</source>
        <translation>已连续 %1 步恰好为 0；此前约为 %2</translation>
    </message>
    <message>
        <source>has not changed for %1 steps, while other weights have</source>
        <translation>已有 %1 步没有变化，而其他权重在变</translation>
    </message>
    <message>
        <source>jumped from %1 to %2</source>
        <translation>从 %1 跳到 %2</translation>
    </message>
    <message>
        <source>fell from %1 to %2</source>
        <translation>从 %1 降到 %2</translation>
    </message>
    <message>
        <source>fell %1 times, to %2</source>
        <translation>下降了 %1 次，降到 %2</translation>
    </message>
    <message>
        <source>rose from %1 to %2</source>
        <translation>从 %1 升到 %2</translation>
    </message>
    <message>
        <source>its entropy is %1, and was about %2</source>
        <translation>其熵为 %1，此前约为 %2</translation>
    </message>
    <message>
        <source>its norm is %1, %2 times what it was about 20 steps before</source>
        <translation>其范数为 %1，约为 20 步之前的 %2 倍</translation>
    </message>
    <message>
        <source>the norm of %1 grew by %2 % a step, %3 times within %4 steps, to %5</source>
        <translation>%1 的范数每步增长 %2 %，%4 步内增至 %3 倍，达到 %5</translation>
    </message>
    <message>
        <source>the value of %1 grew by %2 % a step, %3 times within %4 steps, to %5</source>
        <translation>%1 的值每步增长 %2 %，%4 步内增至 %3 倍，达到 %5</translation>
    </message>
    <message>
        <source>at this rate its largest magnitude, %1, overflows %2 at about step %3</source>
        <translation>照此速度，其最大绝对值 %1 约在第 %3 步超出 %2 的范围</translation>
    </message>
    <message>
        <source>the gradients of %1 are %2 times as large as their second moments know them (sum of g²/v %3, usually %4)</source>
        <translation>%1 的梯度是其二阶矩所反映的 %2 倍（g²/v 之和 %3，平常 %4）</translation>
    </message>
    <message>
        <source>a step changes %1 by %2 % of its weights&apos; norm, and never by more than %3 % before</source>
        <translation>一步使 %1 改变其权重范数的 %2 %，此前从未超过 %3 %</translation>
    </message>
    <message>
        <source>%1 % of its elements have been exactly 0 for %2 steps; it was about %3 %</source>
        <translation>其 %1 % 的元素已连续 %2 步恰好为 0；此前约为 %3 %</translation>
    </message>
    <message>
        <source>holds the same bits on ranks %1, which should hold different parts of it (the same seed?)</source>
        <translation>在 rank %1 上完全相同，而它们本应持有不同的部分（随机种子相同？）</translation>
    </message>
    <message>
        <source>differs on rank %1 from the other %2 ranks that held the same bits until then</source>
        <translation>在 rank %1 上与其他 %2 个 rank 不同，此前它们逐位相同</translation>
    </message>
    <message>
        <source>differs between ranks %1, which held the same bits until then</source>
        <translation>在 rank %1 之间不同，此前它们逐位相同</translation>
    </message>
    <message>
        <source>%1 tries of this step were given up, for gradients that were not finite</source>
        <translation>这一步有 %1 次尝试因梯度非有限而放弃</translation>
    </message>
    <message>
        <source>%1 tries within %2 steps were given up, for gradients that were not finite</source>
        <translation>%2 步内有 %1 次尝试因梯度非有限而放弃</translation>
    </message>
    <message>
        <source>only rank %1 of %2 was abnormal</source>
        <translation>%2 个 rank 中只有 rank %1 异常</translation>
    </message>
    <message>
        <source>%1 of %2 ranks were abnormal</source>
        <translation>%2 个 rank 中有 %1 个出现异常</translation>
    </message>
    <message>
        <source>computes %1 % longer than %2 (z %3)</source>
        <translation>计算时间比%2长 %1 %（z %3）</translation>
    </message>
    <message>
        <source>%1 is %2 times that of %3 (z %4)</source>
        <translation>%1是%3的 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>%1 is 1/%2 of that of %3 (z %4)</source>
        <translation>%1是%3的 1/%2（z %4）</translation>
    </message>
    <message>
        <source>%1 is on one rank %2 times that on the other, and none of them left its own past (z %3)</source>
        <translation>%1在一个 rank 上是另一个的 %2 倍，而两者都没有偏离自身的历史（z %3）</translation>
    </message>
    <message>
        <source>%1 is on one rank 1/%2 of that on the other, and none of them left its own past (z %3)</source>
        <translation>%1在一个 rank 上是另一个的 1/%2，而两者都没有偏离自身的历史（z %3）</translation>
    </message>
    <message>
        <source>unlike the attempt before it, %1</source>
        <translation>与上一次尝试不同，%1</translation>
    </message>
    <message>
        <source>the norms of %1 of %2 weights are others: %3, and was %4</source>
        <translation>%2 个权重中有 %1 个的范数不同：现为 %3，此前为 %4</translation>
    </message>
    <message>
        <source>the learning rate is %1, and was %2</source>
        <translation>学习率为 %1，此前为 %2</translation>
    </message>
    <message>
        <source>the optimizer has no first moments, which %1 tensors had</source>
        <translation>优化器没有一阶矩，而此前有 %1 个张量有</translation>
    </message>
    <message>
        <source>the optimizer has no second moments, which %1 tensors had</source>
        <translation>优化器没有二阶矩，而此前有 %1 个张量有</translation>
    </message>
    <message>
        <source>the first moments of %1 of %2 tensors are others: %3, and was %4</source>
        <translation>%2 个张量中有 %1 个的一阶矩不同：现为 %3，此前为 %4</translation>
    </message>
    <message>
        <source>the second moments of %1 of %2 tensors are others: %3, and was %4</source>
        <translation>%2 个张量中有 %1 个的二阶矩不同：现为 %3，此前为 %4</translation>
    </message>
    <message>
        <source>Its inputs and weights were finite.</source>
        <translation>其输入和权重均为有限值。</translation>
    </message>
    <message>
        <source>Its output&apos;s gradient and weights were finite.</source>
        <translation>其输出的梯度和权重均为有限值。</translation>
    </message>
    <message>
        <source>Its inputs were finite.</source>
        <translation>其输入为有限值。</translation>
    </message>
    <message>
        <source>Its output&apos;s gradient was finite.</source>
        <translation>其输出的梯度为有限值。</translation>
    </message>
    <message>
        <source>Its inputs were not finite either.</source>
        <translation>其输入也不是有限值。</translation>
    </message>
    <message>
        <source>Its output&apos;s gradient was not finite either.</source>
        <translation>其输出的梯度也不是有限值。</translation>
    </message>
    <message>
        <source>Its weights were finite.</source>
        <translation>其权重为有限值。</translation>
    </message>
    <message>
        <source>NaN in %1</source>
        <translation>%1 个 NaN</translation>
    </message>
    <message>
        <source>+Inf in %1</source>
        <translation>%1 个 +Inf</translation>
    </message>
    <message>
        <source>-Inf in %1</source>
        <translation>%1 个 -Inf</translation>
    </message>
    <message>
        <source>the value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>the norm of %1</source>
        <translation>%1 的范数</translation>
    </message>
    <message>
        <source>the other rank</source>
        <translation>另一个 rank</translation>
    </message>
    <message>
        <source>the median of %1 ranks that do the same</source>
        <translation>做同样工作的 %1 个 rank 的中位数</translation>
    </message>
    <message>
        <source>weight</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step %1, rank %2</source>
        <translation>第 %1 步，rank %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>First abnormal: %1, %2, %3: %4.</source>
        <translation>首个异常：%1，%2，%3：%4。</translation>
    </message>
    <message>
        <source>its largest logit has grown for %1 steps, to %2; it was about %3</source>
        <translation>其最大 logit 已增长 %1 步，达到 %2；此前约为 %3</translation>
    </message>
    <message>
        <source>the gradient noise scale of ranks %1 is %2 batches of a step, %3 times what it was</source>
        <translation>rank %1 的梯度噪声尺度是一步批量的 %2 倍，为此前的 %3 倍</translation>
    </message>
    <message>
        <source>the gradient noise scale of ranks %1 is %2 batches of a step, %3 times below what it was</source>
        <translation>rank %1 的梯度噪声尺度是一步批量的 %2 倍，比此前低 %3 倍</translation>
    </message>
    <message>
        <source>the gradient noise scale of ranks %1 is %2 batches of a step: a step follows noise</source>
        <translation>rank %1 的梯度噪声尺度是一步批量的 %2 倍：一步跟随的是噪声</translation>
    </message>
    <message>
        <source>the total norm of %1 is %2 times its usual %3 (z %4)</source>
        <translation>%1 的总范数是平常值 %3 的 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>the total norm of %1 is %2 times below its usual %3 (z %4)</source>
        <translation>%1 的总范数比平常值 %3 低 %2 倍（z %4）</translation>
    </message>
    <message>
        <source>the total norm of %1 grew by %2 % a step, %3 times within %4 steps, to %5</source>
        <translation>%1 的总范数每步增长 %2 %，%4 步内增至 %3 倍，达到 %5</translation>
    </message>
    <message>
        <source>the total norm of %1</source>
        <translation>%1 的总范数</translation>
    </message>
    <message>
        <source>%1 times its usual %2 (z %3)</source>
        <translation>平常值 %2 的 %1 倍（z %3）</translation>
    </message>
    <message>
        <source>%1 times below its usual %2 (z %3)</source>
        <translation>比平常值 %2 低 %1 倍（z %3）</translation>
    </message>
    <message>
        <source>First abnormal: %1, %2: %3.</source>
        <translation>首个异常：%1，%2：%3。</translation>
    </message>
    <message>
        <source>has had exactly the same norm for %1 steps, while other weights changed</source>
        <translation>范数已连续 %1 步完全相同，而其他权重在变</translation>
    </message>
    <message>
        <source>after the step</source>
        <translation>更新后</translation>
    </message>
</context>
<context>
    <name>IncidentSentence</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>Kind</name>
    <message>
        <source>scalar</source>
        <translation>标量</translation>
    </message>
    <message>
        <source>weight, before the step</source>
        <translation>权重，更新前</translation>
    </message>
    <message>
        <source>weight, after the step</source>
        <translation>权重，更新后</translation>
    </message>
    <message>
        <source>gradient, unreduced</source>
        <translation>梯度，归约前</translation>
    </message>
    <message>
        <source>gradient, reduced</source>
        <translation>梯度，归约后</translation>
    </message>
    <message>
        <source>activation, forward</source>
        <translation>激活，前向</translation>
    </message>
    <message>
        <source>activation, backward</source>
        <translation>激活，反向</translation>
    </message>
    <message>
        <source>first moment</source>
        <translation>一阶矩</translation>
    </message>
    <message>
        <source>second moment</source>
        <translation>二阶矩</translation>
    </message>
    <message>
        <source>momentum-gradient direction</source>
        <translation>动量与梯度方向</translation>
    </message>
    <message>
        <source>update</source>
        <translation>更新量</translation>
    </message>
    <message>
        <source>update ratio</source>
        <translation>更新比</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>linear layer</source>
        <translation>线性层</translation>
    </message>
    <message>
        <source>router</source>
        <translation>路由</translation>
    </message>
    <message>
        <source>gradient sign</source>
        <translation>梯度符号</translation>
    </message>
</context>
<context>
    <name>OneRunNote</name>
    <message numerus="yes">
        <source>one of %n runs</source>
        <translation>
            <numerusform>%n 个运行之一</numerusform>
        </translation>
    </message>
    <message>
        <source>Of the compared runs this view shows “%1” alone.</source>
        <translation>在所对比的运行中，此视图只显示“%1”。</translation>
    </message>
</context>
<context>
    <name>Overview</name>
    <message>
        <source>last finite %1 at %2</source>
        <translation>最近有限值 %1，第 %2 步</translation>
    </message>
</context>
<context>
    <name>PictureCaption</name>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
</context>
<context>
    <name>RankMark</name>
    <message>
        <source>unlike its peers</source>
        <translation>与同类 rank 不同</translation>
    </message>
    <message>
        <source>unlike its peers at times</source>
        <translation>有时与同类 rank 不同</translation>
    </message>
</context>
<context>
    <name>Rule</name>
    <message>
        <source>not finite</source>
        <translation>非有限值</translation>
    </message>
    <message>
        <source>close to overflow</source>
        <translation>接近溢出</translation>
    </message>
    <message>
        <source>replicas differ</source>
        <translation>副本不一致</translation>
    </message>
    <message>
        <source>left its own history</source>
        <translation>偏离自身历史</translation>
    </message>
    <message>
        <source>loss spikes</source>
        <translation>损失尖峰</translation>
    </message>
    <message>
        <source>weight grows or shrinks fast</source>
        <translation>权重快速增大或缩小</translation>
    </message>
    <message>
        <source>became zero</source>
        <translation>变为零</translation>
    </message>
    <message>
        <source>loss scale falls</source>
        <translation>损失缩放下降</translation>
    </message>
    <message>
        <source>learning rate jumps</source>
        <translation>学习率跳变</translation>
    </message>
    <message>
        <source>computes longer</source>
        <translation>计算耗时更长</translation>
    </message>
    <message>
        <source>unlike its peers</source>
        <translation>与同伴不同</translation>
    </message>
    <message>
        <source>started again otherwise</source>
        <translation>重启后不一致</translation>
    </message>
    <message>
        <source>grows on and on</source>
        <translation>持续增长</translation>
    </message>
    <message>
        <source>second moments are stale</source>
        <translation>二阶矩陈旧</translation>
    </message>
    <message>
        <source>steps are too large</source>
        <translation>更新步长过大</translation>
    </message>
    <message>
        <source>units are dead</source>
        <translation>单元失活</translation>
    </message>
    <message>
        <source>The first NaN or Inf of every tensor and scalar. Gradients that are not finite while a loss scale is in use are the scaler&apos;s own step given up, and no incident.</source>
        <translation>每个张量和标量的第一个 NaN 或 Inf。使用损失缩放时梯度非有限，是缩放器自己放弃的一步，不算事件。</translation>
    </message>
    <message>
        <source>The largest magnitude of a 16-bit float tensor is within `headroom` times of what its type can hold.</source>
        <translation>16 位浮点张量的最大绝对值与其类型上限相差不到 `headroom` 倍。</translation>
    </message>
    <message>
        <source>limit of the type divided by the largest magnitude</source>
        <translation>类型上限除以最大绝对值</translation>
    </message>
    <message>
        <source>Weights, or reduced gradients, that were bitwise equal on the ranks of a data-parallel group, and are not any more (needs telltale.checksum).</source>
        <translation>数据并行组内各 rank 上原本逐位相同的权重或归约后梯度不再相同（需要 telltale.checksum）。</translation>
    </message>
    <message>
        <source>robust deviations (median and MAD of logarithms)</source>
        <translation>稳健偏差（对数的中位数与 MAD）</translation>
    </message>
    <message>
        <source>against the median of the last 128 steps</source>
        <translation>相对于最近 128 步的中位数</translation>
    </message>
    <message>
        <source>in a row</source>
        <translation>连续</translation>
    </message>
    <message>
        <source>the factor for gradients and losses that fall, as they do when a training goes well</source>
        <translation>用于下降的梯度和损失的倍数，训练顺利时它们会下降</translation>
    </message>
    <message>
        <source>A loss is `z` robust deviations above its last 128 steps, on a logarithmic scale, and a factor of `factor` at least. It counts at once.</source>
        <translation>损失在对数尺度上比其最近 128 步高 `z` 个稳健偏差，且至少高 `factor` 倍。立即计入。</translation>
    </message>
    <message>
        <source>The norm of a weight is `factor` times its own slow average (of about 20 steps), or below it by as much, for `steps` steps in a row. Not before 100 steps.</source>
        <translation>权重的范数连续 `steps` 步是其自身慢均值（约 20 步）的 `factor` 倍，或低同样多。100 步之前不判断。</translation>
    </message>
    <message>
        <source>against the slow average</source>
        <translation>相对于慢均值</translation>
    </message>
    <message>
        <source>A tensor that was not zero is exactly zero for `steps` steps in a row, while others are not; steps that did not use its module (an expert without tokens) left out.</source>
        <translation>原本不为零的张量连续 `steps` 步恰好为零，而其他张量不是；未使用其模块的步（没有分到 token 的专家）不计。</translation>
    </message>
    <message>
        <source>The loss scale fell, or steps were given up for gradients that are not finite, `times` times within `steps` steps; or it fell below 1, or jumped by more than a scaler&apos;s doubling.</source>
        <translation>损失缩放在 `steps` 步内下降，或因梯度非有限而放弃步骤，共 `times` 次；或降到 1 以下，或跳变超过缩放器的一次翻倍。</translation>
    </message>
    <message>
        <source>that it fell or a step was given up</source>
        <translation>下降或放弃步骤的次数</translation>
    </message>
    <message>
        <source>within so many</source>
        <translation>在这么多步之内</translation>
    </message>
    <message>
        <source>The attention entropy of a head is below `share` of what it was before, for `steps` steps in a row (Zhai et al. 2023, arXiv 2303.06296).</source>
        <translation>某个头的注意力熵连续 `steps` 步低于此前的 `share`（Zhai 等 2023，arXiv 2303.06296）。</translation>
    </message>
    <message>
        <source>of its own slow average</source>
        <translation>占其自身慢均值的比例</translation>
    </message>
    <message>
        <source>The learning rate rose to more than `factor` times its value in one step. An incident where it is as far above all that it was before, since a schedule that begins again only goes back to what it was.</source>
        <translation>学习率在一步内升至 `factor` 倍以上。若它也同样高于此前的所有值则为事件，因为重新开始的调度只会回到从前的值。</translation>
    </message>
    <message>
        <source>from one step to the next</source>
        <translation>从一步到下一步</translation>
    </message>
    <message>
        <source>0.05: 5 % longer than the median of the others</source>
        <translation>0.05：比其他 rank 的中位数长 5 %</translation>
    </message>
    <message>
        <source>against how medians of 8 steps wandered</source>
        <translation>相对于 8 步中位数的波动</translation>
    </message>
    <message>
        <source>A loss, or the norm of a block&apos;s activations or unreduced gradients, is on one rank `factor` times that of the ranks that do the same (their median), for `steps` steps in a row (always more, or always less), and `z` robust deviations from what that ratio was before. What happens to all ranks at once is none.</source>
        <translation>某个 rank 上的损失，或某块激活或未归约梯度的范数，连续 `steps` 步（始终偏大或始终偏小）是做同样工作的 rank（其中位数）的 `factor` 倍，且与该比值从前相差 `z` 个稳健偏差。所有 rank 同时发生的不算。</translation>
    </message>
    <message>
        <source>against the median of the ranks</source>
        <translation>相对于各 rank 的中位数</translation>
    </message>
    <message>
        <source>A rank that was started again has, at its first step, other weights, another learning rate or other moments than the attempt before it had at that step; or weights other than it left behind, or no moments, where that step is new.</source>
        <translation>重新启动的 rank 在其第一步的权重、学习率或矩与上一次尝试在该步的不同；或在该步是新的时，权重与上次留下的不同，或没有矩。</translation>
    </message>
    <message>
        <source>0.01: the norm of a weight differs by 1 %</source>
        <translation>0.01：权重的范数相差 1 %</translation>
    </message>
    <message>
        <source>factor between the learning rates</source>
        <translation>学习率之间的倍数</translation>
    </message>
    <message>
        <source>factor between the norms of a moment</source>
        <translation>矩的范数之间的倍数</translation>
    </message>
    <message>
        <source>of the last 8 steps to the 8 that were 24 steps before</source>
        <translation>最近 8 步与 24 步之前的 8 步之比</translation>
    </message>
    <message>
        <source>The sum of a block&apos;s squared reduced gradients is `ratio` times the sum of its second moments, which are about as large in a steady training: Adam divides by what was, and the update is as much too large. Not before 100 steps (SPAM, arXiv 2501.06842, which resets at 5000 of an element; RMS spikes, arXiv 2304.13013).</source>
        <translation>某块归约后梯度的平方和是其二阶矩之和的 `ratio` 倍，在平稳的训练中两者大致相当：Adam 除以过去的值，更新因而过大。100 步之前不判断（SPAM，arXiv 2501.06842，在单个元素达到 5000 时重置；RMS 尖峰，arXiv 2304.13013）。</translation>
    </message>
    <message>
        <source>sum of squared gradients to sum of second moments</source>
        <translation>梯度平方和与二阶矩之和的比</translation>
    </message>
    <message>
        <source>The learning rate times the norm of a block&apos;s update is more than `share` of the norm of its weights, and `factor` times what that ever was, for `steps` steps in a row. About 0.001 is healthy (A. Karpathy&apos;s rule of thumb). Not before 100 steps; needs ur_distribution and a learning rate.</source>
        <translation>学习率乘以某块更新的范数连续 `steps` 步超过其权重范数的 `share`，且是以往最高值的 `factor` 倍。约 0.001 为健康（A. Karpathy 的经验法则）。100 步之前不判断；需要 ur_distribution 和学习率。</translation>
    </message>
    <message>
        <source>of the weights&apos; norm, in one step</source>
        <translation>一步内占权重范数的比例</translation>
    </message>
    <message>
        <source>against the highest of its slow averages</source>
        <translation>相对于其慢均值的最高值</translation>
    </message>
    <message>
        <source>The share of zeros in a module&apos;s output is `share` or more for `steps` steps in a row, and was below 0.8. Not before 100 steps (dormant neurons, arXiv 2302.12902).</source>
        <translation>模块输出中零的占比连续 `steps` 步达到 `share` 或更高，此前低于 0.8。100 步之前不判断（休眠神经元，arXiv 2302.12902）。</translation>
    </message>
    <message>
        <source>of the elements that are exactly 0</source>
        <translation>恰好为 0 的元素的占比</translation>
    </message>
    <message>
        <source>The norm of a block of the model is `z` robust deviations away from its last 128 steps, on a logarithmic scale, and a factor of `factor` at least. It counts at once where it is half as far again, or shows in half of the blocks; else after `steps` steps in a row. Gradients that grow count from 10 times on, and after 10 steps in a row, while less than 128 steps are known, at the start or after a new level. One batch may make them large for a step: they count at once from 16 times the usual on, where they arose in a block and did not flow back into it, and else from 1000 times on; where that is not known, from 16 times on once 128 steps are known.</source>
        <translation>模型某块的范数在对数尺度上偏离其最近 128 步 `z` 个稳健偏差，且至少相差 `factor` 倍。再远一半或半数块都如此时立即计入；否则在连续 `steps` 步之后计入。在已知不足 128 步时（开始时，或新水平之后），增长的梯度从 10 倍起、且连续 10 步之后才计入。单个批次可能使梯度在一步内很大：若梯度产生于某块而非反向传入该块，从平常的 16 倍起立即计入，否则从 1000 倍起；无法得知时，在已知 128 步之后从 16 倍起计入。</translation>
    </message>
    <message>
        <source>A loss, or the norm of a block&apos;s weights, gradients or activations, grows by `factor` within 24 steps, evenly or faster and faster: the median of each 8 steps is above the one before. Says when its type overflows. Not before 100 steps; gradients not before 200.</source>
        <translation>损失，或某块权重、梯度或激活的范数，在 24 步内增长 `factor` 倍，匀速或越来越快：每 8 步的中位数都高于前一个。会说明其类型何时溢出。100 步之前不判断；梯度在 200 步之前不判断。</translation>
    </message>
    <message>
        <source>A rank computes longer than its peers by `share` for 16 steps, and `z` times as far as such differences wandered before; or for up to 64, and less far. Needs a scalar of the time that a rank computes without waiting for others, such as forward_ms, or forward_cpu_ms on machines that do other work, too; step times do not tell, since all ranks wait for the slowest (Minder, arXiv 2411.01791).</source>
        <translation>某个 rank 连续 16 步比同伴多计算 `share` 的时间，且是此前此类差异波动的 `z` 倍；或最多 64 步而相差较小。需要一个不含等待的计算时间标量，例如 forward_ms，在还做其他工作的机器上则为 forward_cpu_ms；步时间说明不了，因为所有 rank 都等最慢的那个（Minder，arXiv 2411.01791）。</translation>
    </message>
    <message>
        <source>attention logits grow</source>
        <translation>注意力 logit 增长</translation>
    </message>
    <message>
        <source>The largest score of an attention head before its softmax is above `level`, where QK-Clip begins to rescale queries and keys (Kimi K2, arXiv 2507.20534), and `factor` times its own slow average of about 128 steps, for `steps` steps in a row. Critical from `diverges` on: trainings diverged with logits above that (ViT-22B, arXiv 2302.05442; Wortsman et al. 2023, arXiv 2309.14322). Not before 100 steps; needs telltale.attention_hook.</source>
        <translation>某个注意力头在 softmax 之前的最大分数连续 `steps` 步高于 `level`（QK-Clip 由此开始重新缩放 query 和 key，Kimi K2，arXiv 2507.20534），且是其约 128 步慢均值的 `factor` 倍。从 `diverges` 起为严重：logit 高于此值的训练曾发散（ViT-22B，arXiv 2302.05442；Wortsman 等 2023，arXiv 2309.14322）。100 步之前不判断；需要 telltale.attention_hook。</translation>
    </message>
    <message>
        <source>the largest scaled score</source>
        <translation>最大的缩放后分数</translation>
    </message>
    <message>
        <source>the largest scaled score that is critical</source>
        <translation>达到严重程度的最大缩放后分数</translation>
    </message>
    <message>
        <source>gradient noise changes</source>
        <translation>梯度噪声变化</translation>
    </message>
    <message>
        <source>The gradient noise scale of a data-parallel group, from the norms of its ranks&apos; unreduced and of their reduced gradients (McCandlish et al. 2018, arXiv 1812.06162, appendix A.1; averaged over about 64 steps), is `factor` times its own average of about 256 steps, or below it by as much, or `batches` times the batch of a step, for `steps` steps in a row. Off unless it is asked for: it grows by orders of magnitude as a training goes well.</source>
        <translation>数据并行组的梯度噪声尺度，由各 rank 未归约梯度与归约后梯度的范数得出（McCandlish 等 2018，arXiv 1812.06162，附录 A.1；约 64 步平均），连续 `steps` 步是其约 256 步均值的 `factor` 倍，或低同样多，或是一步批量的 `batches` 倍。未要求时关闭：训练顺利时它会增长几个数量级。</translation>
    </message>
    <message>
        <source>the noise scale divided by the batch of a step</source>
        <translation>噪声尺度除以一步的批量</translation>
    </message>
    <message>
        <source>entropy collapses</source>
        <translation>熵坍缩</translation>
    </message>
    <message>
        <source>norm stands still</source>
        <translation>范数停滞</translation>
    </message>
    <message>
        <source>A weight that used to change has exactly the same norm (and the same bits, where checksums are recorded) for `steps` steps in a row, while most others change; steps that did not use its module left out, and those whose learning rate is below a hundredth of the highest.</source>
        <translation>原本会变化的权重连续 `steps` 步范数完全相同（有校验和时则逐位相同），而大多数其他权重在变；未使用其模块的步不计，学习率低于最高值百分之一的步也不计。</translation>
    </message>
</context>
<context>
    <name>RunState</name>
    <message>
        <source>live</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>已失联</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>of a newer version</source>
        <translation>来自更新的版本</translation>
    </message>
</context>
<context>
    <name>Said</name>
    <message>
        <source>not observed: %1 of %2, because %3</source>
        <translation>未观测到 %2 的 %1：%3</translation>
    </message>
    <message>
        <source>not observed in the first step: activations of %1 (not called, or inside compiled code)</source>
        <translation>第一步未观测到 %1 的激活（没有被调用，或在编译后的代码内）</translation>
    </message>
    <message>
        <source>it neither calls scaled_dot_product_attention nor is called with queries and keys</source>
        <translation>它既不调用 scaled_dot_product_attention，也没有以 query 和 key 被调用</translation>
    </message>
    <message>
        <source>its queries and keys have no values that can be read here</source>
        <translation>它的 query 和 key 没有可在此读取的值</translation>
    </message>
    <message>
        <source>it has no weight matrix</source>
        <translation>它没有权重矩阵</translation>
    </message>
    <message>
        <source>its weight is no matrix of numbers on this rank</source>
        <translation>它的权重在此 rank 上不是数值矩阵</translation>
    </message>
    <message>
        <source>its output holds no logits</source>
        <translation>它的输出中没有 logits</translation>
    </message>
    <message>
        <source>its gradient and momentum do not match</source>
        <translation>它的梯度与动量对不上</translation>
    </message>
    <message>
        <source>there are too many series</source>
        <translation>序列太多</translation>
    </message>
    <message>
        <source>its hook cannot be installed (%1)</source>
        <translation>无法安装它的 hook（%1）</translation>
    </message>
    <message>
        <source>its gradient was taken away in an earlier hook, as optimizers that step inside backward do</source>
        <translation>它的梯度已被更早的 hook 取走，在反向中更新的优化器就是这样</translation>
    </message>
    <message>
        <source>it ran more than once under reentrant checkpointing, whose recomputation does not say which</source>
        <translation>它在可重入的 checkpoint 下运行了多次，重计算时分不清是哪一次</translation>
    </message>
    <message>
        <source>it changes the tensor in place, and the gradient is that of the changed one</source>
        <translation>它就地改写了张量，梯度属于改写后的张量</translation>
    </message>
    <message>
        <source>it is given the same tensor more than once</source>
        <translation>它多次得到同一个张量</translation>
    </message>
    <message>
        <source>it returns the tensor itself</source>
        <translation>它原样返回该张量</translation>
    </message>
    <message>
        <source>what it returns holds no tensor</source>
        <translation>它的返回值中没有张量</translation>
    </message>
    <message>
        <source>its consumers run on several streams</source>
        <translation>使用它的运算在多个 stream 上</translation>
    </message>
    <message>
        <source>more than %1 attention calls in one step; the rest is left out</source>
        <translation>一步内的注意力调用超过 %1 次；其余略去</translation>
    </message>
    <message>
        <source>attention_maps: maps are for the dashboard, and nothing goes there; none are made</source>
        <translation>attention_maps：注意力图供面板使用，而没有数据发往面板；不生成</translation>
    </message>
    <message>
        <source>attention_maps: a step has at most %1 maps; those of %2 and later are left out</source>
        <translation>attention_maps：一步最多 %1 张图；%2 及之后的略去</translation>
    </message>
    <message>
        <source>attention_maps: %1 has none of the heads %2; none of its maps are sent</source>
        <translation>attention_maps：%1 没有头 %2；不发送它的图</translation>
    </message>
    <message>
        <source>attention_maps: they are not fetched from %1; none are sent</source>
        <translation>attention_maps：无法从 %1 取回；不发送</translation>
    </message>
    <message>
        <source>attention_maps: a card has not sent those of two steps yet; the next ones are left out</source>
        <translation>attention_maps：设备尚未送出两步的图；接下来的略去</translation>
    </message>
    <message>
        <source>attention_maps: %1; it has no maps</source>
        <translation>attention_maps：%1；它没有注意力图</translation>
    </message>
    <message>
        <source>internal error while collecting %1: %2: %3</source>
        <translation>采集 %1 时发生内部错误：%2：%3</translation>
    </message>
    <message>
        <source>%1 is switched off after %2 internal errors; training goes on</source>
        <translation>%1 在 %2 次内部错误后关闭；训练照常进行</translation>
    </message>
    <message>
        <source>%1 are dropped and counted</source>
        <translation>%1 被丢弃并计数</translation>
    </message>
    <message>
        <source>%1 cannot start: %2</source>
        <translation>%1 无法启动：%2</translation>
    </message>
    <message>
        <source>the model had lazy parameters: it is watched from the end of its first forward on</source>
        <translation>模型带有惰性参数：从第一次前向结束起开始观测</translation>
    </message>
    <message>
        <source>another optimizer than the one that watch() was given steps the parameters: it is watched from now on</source>
        <translation>更新参数的优化器不是传给 watch() 的那一个：从现在起观测它</translation>
    </message>
    <message>
        <source>an optimizer steps inside backward: what it makes of its parameters is not observed</source>
        <translation>优化器在反向中更新：不观测它对参数的改动</translation>
    </message>
    <message>
        <source>step %1 was tried and given up: its gradients were cleared before an optimizer took them</source>
        <translation>第 %1 步尝试后被放弃：优化器取用之前梯度已被清除</translation>
    </message>
    <message>
        <source>%1 ran more than %2 times in one micro step; the first ones are kept</source>
        <translation>%1 在一个微步内运行超过 %2 次；保留最先的</translation>
    </message>
    <message>
        <source>the metric %1 is %2, not a number; it is left out</source>
        <translation>指标 %1 是 %2，不是数；略去</translation>
    </message>
    <message>
        <source>%1; nothing is collected for it</source>
        <translation>%1；不为它采集任何数据</translation>
    </message>
    <message>
        <source>%1; nothing of it is collected</source>
        <translation>%1；不采集它的任何数据</translation>
    </message>
    <message>
        <source>mean over %1 of %2 queries of each of %3 sequences%4</source>
        <translation>%3 个序列各取 %2 个 query 中的 %1 个求均值%4</translation>
    </message>
    <message>
        <source>mean over all %1 queries of each of %2 sequences%3</source>
        <translation>%2 个序列各自全部 %1 个 query 的均值%3</translation>
    </message>
    <message>
        <source>mean over %1 of %2 queries%3</source>
        <translation>%2 个 query 中 %1 个的均值%3</translation>
    </message>
    <message>
        <source>mean over all %1 queries%2</source>
        <translation>全部 %1 个 query 的均值%2</translation>
    </message>
    <message>
        <source>mean over queries</source>
        <translation>query 的均值</translation>
    </message>
    <message>
        <source>, causal (%1)%2</source>
        <translation>，因果（%1）%2</translation>
    </message>
    <message>
        <source>, masked</source>
        <translation>，带掩码</translation>
    </message>
    <message>
        <source>top left</source>
        <translation>左上对齐</translation>
    </message>
    <message>
        <source>bottom right</source>
        <translation>右下对齐</translation>
    </message>
    <message>
        <source>head 0 of the first sequence, causal, mean over all queries, as msprobe has it</source>
        <translation>第一个序列的头 0，因果，全部 query 的均值，与 msprobe 相同</translation>
    </message>
    <message>
        <source>causal softmax of q.k/sqrt(d), first sequence, mean over %1 queries</source>
        <translation>q.k/sqrt(d) 的因果 softmax，第一个序列，%1 个 query 的均值</translation>
    </message>
    <message>
        <source>; every %1th query%2</source>
        <translation>；每 %1 个 query 取一个%2</translation>
    </message>
    <message>
        <source>another Telltale (process %1) writes to %2</source>
        <translation>另一个 Telltale（进程 %1）正在写入 %2</translation>
    </message>
    <message>
        <source>close it, or use another data directory</source>
        <translation>请关闭它，或使用另一个数据目录</translation>
    </message>
    <message>
        <source>cannot listen on %1: the port is held by %2</source>
        <translation>无法在 %1 上监听：端口被 %2 占用</translation>
    </message>
    <message>
        <source>cannot listen on %1: another program holds the port</source>
        <translation>无法在 %1 上监听：另一个程序占用了端口</translation>
    </message>
    <message>
        <source>cannot listen on %1: %2</source>
        <translation>无法在 %1 上监听：%2</translation>
    </message>
    <message>
        <source>stop it or choose another port with --listen</source>
        <translation>请停止它，或用 --listen 选择另一个端口</translation>
    </message>
    <message>
        <source>choose another address with --listen</source>
        <translation>请用 --listen 选择另一个地址</translation>
    </message>
    <message>
        <source>write ADDR:PORT, as in 127.0.0.1:47800 or [::1]:47800</source>
        <translation>请写成 ADDR:PORT，例如 127.0.0.1:47800 或 [::1]:47800</translation>
    </message>
    <message>
        <source>cannot make the data directory %1: %2</source>
        <translation>无法创建数据目录 %1：%2</translation>
    </message>
    <message>
        <source>choose another one with --data-dir or TELLTALE_DATA_DIR</source>
        <translation>请用 --data-dir 或 TELLTALE_DATA_DIR 选择另一个</translation>
    </message>
    <message>
        <source>choose another data directory with --data-dir or TELLTALE_DATA_DIR</source>
        <translation>请用 --data-dir 或 TELLTALE_DATA_DIR 选择另一个数据目录</translation>
    </message>
    <message>
        <source>cannot write %1 (%2)</source>
        <translation>无法写入 %1（%2）</translation>
    </message>
    <message>
        <source>cannot write %1: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>cannot open %1: %2</source>
        <translation>无法打开 %1：%2</translation>
    </message>
    <message>
        <source>cannot read %1: %2</source>
        <translation>无法读取 %1：%2</translation>
    </message>
    <message>
        <source>cannot move %1: %2</source>
        <translation>无法移动 %1：%2</translation>
    </message>
    <message>
        <source>cannot keep %1 in the trash: %2</source>
        <translation>无法把 %1 放入回收站：%2</translation>
    </message>
    <message>
        <source>cannot delete %1: there is no such file</source>
        <translation>无法删除 %1：没有这个文件</translation>
    </message>
    <message>
        <source>cannot delete %1: %2</source>
        <translation>无法删除 %1：%2</translation>
    </message>
    <message>
        <source>cannot delete %1 (%2)</source>
        <translation>无法删除 %1（%2）</translation>
    </message>
    <message>
        <source>the copy was canceled</source>
        <translation>复制已取消</translation>
    </message>
    <message>
        <source>the check was canceled</source>
        <translation>检查已取消</translation>
    </message>
    <message>
        <source>the repair was canceled: nothing was written</source>
        <translation>修复已取消：没有写入任何内容</translation>
    </message>
    <message>
        <source>the thinning was canceled: nothing was changed</source>
        <translation>抽稀已取消：没有任何改动</translation>
    </message>
    <message>
        <source>the name %1 does not end in .telltale</source>
        <translation>名称 %1 不以 .telltale 结尾</translation>
    </message>
    <message>
        <source>a run of that name is already here: %1</source>
        <translation>这里已有同名的运行：%1</translation>
    </message>
    <message>
        <source>a run of that name is being imported: %1</source>
        <translation>同名的运行正在导入：%1</translation>
    </message>
    <message>
        <source>rename it first</source>
        <translation>请先重命名它</translation>
    </message>
    <message>
        <source>rename the file first</source>
        <translation>请先重命名该文件</translation>
    </message>
    <message>
        <source>wait for it</source>
        <translation>请等它完成</translation>
    </message>
    <message>
        <source>the run %1 is being recorded or read</source>
        <translation>运行 %1 正在记录或读取</translation>
    </message>
    <message>
        <source>the run %1 is being recorded</source>
        <translation>运行 %1 正在记录</translation>
    </message>
    <message>
        <source>close it first</source>
        <translation>请先关闭它</translation>
    </message>
    <message>
        <source>repair it when it has ended</source>
        <translation>请在它结束后修复</translation>
    </message>
    <message>
        <source>thin it when it has ended</source>
        <translation>请在它结束后抽稀</translation>
    </message>
    <message>
        <source>%1 is the run itself</source>
        <translation>%1 就是该运行本身</translation>
    </message>
    <message>
        <source>choose another name for the copy</source>
        <translation>请为副本另取名称</translation>
    </message>
    <message>
        <source>this is no file name: %1</source>
        <translation>这不是文件名：%1</translation>
    </message>
    <message>
        <source>name the file alone</source>
        <translation>只写文件名</translation>
    </message>
    <message>
        <source>a run&apos;s name must have 1 to 1024 bytes</source>
        <translation>运行名称须为 1 到 1024 字节</translation>
    </message>
    <message>
        <source>%1 is not a run</source>
        <translation>%1 不是运行</translation>
    </message>
    <message>
        <source>%1 is a folder, not a run</source>
        <translation>%1 是文件夹，不是运行</translation>
    </message>
    <message>
        <source>there is no file %1</source>
        <translation>没有文件 %1</translation>
    </message>
    <message>
        <source>there is no run with the id or name &quot;%1&quot; in %2</source>
        <translation>%2 中没有 id 或名称为“%1”的运行</translation>
    </message>
    <message>
        <source>the file %1 is empty</source>
        <translation>文件 %1 是空的</translation>
    </message>
    <message>
        <source>a change of the run was cut short</source>
        <translation>对运行的一次改动中途中断</translation>
    </message>
    <message>
        <source>open it once where it may be written</source>
        <translation>请在可写的地方打开一次</translation>
    </message>
    <message>
        <source>the file is not a Telltale run (%1)</source>
        <translation>该文件不是 Telltale 运行（%1）</translation>
    </message>
    <message>
        <source>it is not a Telltale run</source>
        <translation>它不是 Telltale 运行</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no name for a folder of runs</source>
        <translation>“%1”不能作为运行文件夹的名称</translation>
    </message>
    <message>
        <source>say for example llama/ablation: no part may begin with a dot or end in .telltale</source>
        <translation>例如 llama/ablation：任何部分都不能以点开头，或以 .telltale 结尾</translation>
    </message>
    <message>
        <source>a folder&apos;s name has %1 characters at most</source>
        <translation>文件夹名称最多 %1 个字符</translation>
    </message>
    <message>
        <source>choose a shorter one</source>
        <translation>请取短一些的</translation>
    </message>
    <message>
        <source>%1 is no run of %2</source>
        <translation>%1 不是 %2 的运行</translation>
    </message>
    <message>
        <source>only those have folders; &apos;telltale import&apos; takes one in</source>
        <translation>只有那里的运行有文件夹；可用“telltale import”导入</translation>
    </message>
    <message>
        <source>there is a run %1 in this folder already</source>
        <translation>此文件夹中已有运行 %1</translation>
    </message>
    <message>
        <source>%1 lies on another disk than the data directory and its trash</source>
        <translation>%1 与数据目录及其回收站不在同一磁盘</translation>
    </message>
    <message>
        <source>delete it with the file manager, or name its own data directory</source>
        <translation>请用文件管理器删除，或指定它自己的数据目录</translation>
    </message>
    <message>
        <source>the run %1 is pinned</source>
        <translation>运行 %1 已固定</translation>
    </message>
    <message>
        <source>another run has its place: %1</source>
        <translation>它的位置已有另一个运行：%1</translation>
    </message>
    <message>
        <source>move that one away first</source>
        <translation>请先移走那一个</translation>
    </message>
    <message>
        <source>the list of pinned runs cannot be read: %1</source>
        <translation>无法读取已固定运行的列表：%1</translation>
    </message>
    <message>
        <source>layout %1 cannot be read</source>
        <translation>布局 %1 无法读取</translation>
    </message>
    <message>
        <source>layout %1 does not fit its groups</source>
        <translation>布局 %1 与它的分组不符</translation>
    </message>
    <message>
        <source>what became of the samples cannot be read completely</source>
        <translation>样本的去向无法完整读取</translation>
    </message>
    <message>
        <source>%1 cannot be read completely</source>
        <translation>%1 无法完整读取</translation>
    </message>
    <message>
        <source>%1 has %2 damaged row, which is left out</source>
        <translation>%1 有 %2 行损坏，已略去</translation>
    </message>
    <message>
        <source>%1 has %2 damaged rows, which are left out</source>
        <translation>%1 有 %2 行损坏，已略去</translation>
    </message>
    <message>
        <source>%1 is lost: tile %2 has a wrong checksum</source>
        <translation>%1 丢失：数据块 %2 校验和错误</translation>
    </message>
    <message>
        <source>%1: stored values are damaged and left out</source>
        <translation>%1：存储的值已损坏，略去</translation>
    </message>
    <message>
        <source>the newest steps: stored batches are damaged and left out</source>
        <translation>最新的步：存储的批次已损坏，略去</translation>
    </message>
    <message>
        <source>%1 tiles of group %2 are missing at column %3</source>
        <translation>分组 %2 在第 %3 列缺少 %1 个数据块</translation>
    </message>
    <message>
        <source>the file&apos;s structure is damaged (%1 finding)</source>
        <translation>文件结构损坏（%1 处）</translation>
    </message>
    <message>
        <source>the file&apos;s structure is damaged (%1 findings)</source>
        <translation>文件结构损坏（%1 处）</translation>
    </message>
    <message>
        <source>&apos;telltale repair&apos; writes what can be read into a new file</source>
        <translation>“telltale repair”把能读出的内容写入新文件</translation>
    </message>
    <message>
        <source>the question is no longer asked</source>
        <translation>这个问题已不再需要</translation>
    </message>
    <message>
        <source>the file was cut off: %1 of its %2 bytes are missing</source>
        <translation>文件被截断：%2 字节中缺少 %1 字节</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no date</source>
        <translation>“%1”不是日期</translation>
    </message>
    <message>
        <source>write 2026-11-24, 2026-11-24T10:30, today, yesterday, or an age such as 7d</source>
        <translation>请写 2026-11-24、2026-11-24T10:30、today、yesterday，或 7d 这样的时长</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no age</source>
        <translation>“%1”不是时长</translation>
    </message>
    <message>
        <source>write a number and m, h, d, w or y: 90d are ninety days</source>
        <translation>请写一个数和 m、h、d、w 或 y：90d 是九十天</translation>
    </message>
    <message>
        <source>%1 %2 is not a regular expression</source>
        <translation>%1 %2 不是正则表达式</translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no field of a config</source>
        <translation>“%1”没有指明配置的字段</translation>
    </message>
    <message>
        <source>write FIELD=VALUE, for example lr=0.001, lr&lt;=1e-4 or optimizer.name=adam*</source>
        <translation>请写 FIELD=VALUE，例如 lr=0.001、lr&lt;=1e-4 或 optimizer.name=adam*</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no number that %2 could be compared with</source>
        <translation>“%1”不是可与 %2 比较的数</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no severity</source>
        <translation>“%1”不是严重程度</translation>
    </message>
    <message>
        <source>say notice, warning or critical</source>
        <translation>请写 notice、warning 或 critical</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no state of a run</source>
        <translation>“%1”不是运行的状态</translation>
    </message>
    <message>
        <source>say live, finished, failed, interrupted, lost, damaged or newer; several with commas</source>
        <translation>请写 live、finished、failed、interrupted、lost、damaged 或 newer；多个用逗号分开</translation>
    </message>
    <message>
        <source>%1 says nothing to look for</source>
        <translation>%1 没有写要找什么</translation>
    </message>
    <message>
        <source>runs are not chosen by &apos;%1&apos;</source>
        <translation>不能按“%1”选择运行</translation>
    </message>
    <message>
        <source>missing closing parenthesis</source>
        <translation>缺少右括号</translation>
    </message>
    <message>
        <source>unmatched closing parenthesis</source>
        <translation>右括号没有与之匹配的左括号</translation>
    </message>
    <message>
        <source>missing terminating ] for character class</source>
        <translation>字符类缺少结尾的 ]</translation>
    </message>
    <message>
        <source>quantifier does not follow a repeatable item</source>
        <translation>量词前没有可重复的内容</translation>
    </message>
    <message>
        <source>\ at end of pattern</source>
        <translation>模式以 \ 结尾</translation>
    </message>
    <message>
        <source>range out of order in character class</source>
        <translation>字符类中的范围次序颠倒</translation>
    </message>
    <message>
        <source>numbers out of order in {} quantifier</source>
        <translation>{} 量词中的数次序颠倒</translation>
    </message>
    <message>
        <source>number too big in {} quantifier</source>
        <translation>{} 量词中的数太大</translation>
    </message>
    <message>
        <source>unrecognized character follows \</source>
        <translation>\ 后的字符无法识别</translation>
    </message>
    <message>
        <source>unrecognized character after (? or (?-</source>
        <translation>(? 或 (?- 后的字符无法识别</translation>
    </message>
    <message>
        <source>reference to non-existent subpattern</source>
        <translation>引用了不存在的子模式</translation>
    </message>
    <message>
        <source>lookbehind assertion is not fixed length</source>
        <translation>后行断言的长度不固定</translation>
    </message>
    <message>
        <source>the run was written by a newer Telltale (format %1, this one reads up to %2)</source>
        <translation>该运行由更新版本的 Telltale 写入（格式 %1，本版本最多读到 %2）</translation>
    </message>
    <message>
        <source>update Telltale to open it</source>
        <translation>请更新 Telltale 再打开它</translation>
    </message>
    <message>
        <source>not observed: activations, because no selected module ran outside compiled code</source>
        <translation>未观测到激活：所选模块都在编译后的代码内运行</translation>
    </message>
    <message>
        <source>select modules around the compiled ones</source>
        <translation>请选择包在外面的模块</translation>
    </message>
    <message>
        <source>a MindSpore cell tells of it where it is called with query and key, %1</source>
        <translation>MindSpore 的 cell 要以 query 和 key 调用才能观测到，%1</translation>
    </message>
    <message>
        <source>each of four dimensions in the order of sa_order</source>
        <translation>各有四维，按 sa_order 的顺序</translation>
    </message>
    <message>
        <source>the gradient of the input of %1 is the total over all consumers of the tensor, %2: %3</source>
        <translation>%1 的输入梯度是该张量全部使用者的总和，%2：%3</translation>
    </message>
    <message>
        <source>not the share that flows through the module</source>
        <translation>而不是流经该模块的部分</translation>
    </message>
    <message>
        <source>several backward passes went through one forward: %1</source>
        <translation>一次前向之后有多次反向：%1</translation>
    </message>
    <message>
        <source>of the gradients of its activations the last pass&apos;s are shown</source>
        <translation>激活梯度显示最后一次的</translation>
    </message>
    <message>
        <source>l2_targets.attention_hook is empty, which means no attention module</source>
        <translation>l2_targets.attention_hook 为空，即不测量任何注意力模块</translation>
    </message>
    <message>
        <source>telltale.attention_hook: true measures all of them</source>
        <translation>telltale.attention_hook: true 测量全部</translation>
    </message>
    <message>
        <source>the spectral norms of weights on a device are not converged in the first steps: %1</source>
        <translation>设备上权重的谱范数在最初几步尚未收敛：%1</translation>
    </message>
    <message>
        <source>they are lower bounds that grow tighter from step to step</source>
        <translation>它们是逐步收紧的下界</translation>
    </message>
    <message>
        <source>share of a query&apos;s attention, mean over the queries of a row, sum over the keys of a column%1</source>
        <translation>query 注意力的占比：对一行的 query 求均值，对一列的 key 求和%1</translation>
    </message>
    <message>
        <source>; first sequence%1</source>
        <translation>；第一个序列%1</translation>
    </message>
    <message>
        <source>steps %1 to %2 were judged: %3 tensors and scalars, by %4 rules</source>
        <translation>第 %1 到 %2 步已判断：%3 个张量和标量，%4 条规则</translation>
    </message>
    <message>
        <source>print_struct: the module structure has been recorded and training goes on</source>
        <translation>print_struct：模块结构已记录，训练照常进行</translation>
    </message>
    <message>
        <source>%1 ends it there, as msprobe does</source>
        <translation>%1 则在此结束，与 msprobe 相同</translation>
    </message>
    <message>
        <source>print_struct: the model&apos;s structure is in %1</source>
        <translation>print_struct：模型结构写在 %1</translation>
    </message>
    <message>
        <source>collectives by call site, element type and process group</source>
        <translation>按调用位置、元素类型和进程组列出的集合通信</translation>
    </message>
    <message>
        <source>not observed: functional collectives (%1, compiled regions) never pass Python</source>
        <translation>未观测到：函数式集合通信（%1、编译区域）不经过 Python</translation>
    </message>
    <message>
        <source>not observed: DDP&apos;s own gradient all-reduce never passes Python: %1</source>
        <translation>未观测到：DDP 自己的梯度 all-reduce 不经过 Python：%1</translation>
    </message>
    <message>
        <source>its result is in the reduced gradients</source>
        <translation>其结果在归约后的梯度中</translation>
    </message>
    <message>
        <source>telltale-demo-trainer is neither beside telltale nor on the PATH</source>
        <translation>telltale-demo-trainer 既不在 telltale 旁边，也不在 PATH 中</translation>
    </message>
    <message>
        <source>build it (it needs LibTorch: libtorch-dev) or put it there</source>
        <translation>请编译它（需要 LibTorch：libtorch-dev），或把它放到那里</translation>
    </message>
    <message>
        <source>the demo is already training</source>
        <translation>演示已在训练</translation>
    </message>
    <message>
        <source>the demo needs the capture server: %1</source>
        <translation>演示需要采集服务器：%1</translation>
    </message>
    <message>
        <source>cannot start %1: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>the demo: rank %1 was killed (SIG%2)</source>
        <translation>演示：rank %1 被终止（SIG%2）</translation>
    </message>
    <message>
        <source>the training process of rank %1 ended with exit code %2</source>
        <translation>rank %1 的训练进程以退出码 %2 结束</translation>
    </message>
    <message>
        <source>the field &quot;%1&quot; of &quot;%2&quot; is not known to this version; did you mean &quot;%3&quot;?</source>
        <translation>此版本不认识“%2”的字段“%1”；是不是“%3”？</translation>
    </message>
    <message>
        <source>the field &quot;%1&quot; of &quot;%2&quot; is not known to this version</source>
        <translation>此版本不认识“%2”的字段“%1”</translation>
    </message>
    <message>
        <source>the field &quot;%1&quot; belongs into the object &quot;%2&quot;</source>
        <translation>字段“%1”应放在对象“%2”中</translation>
    </message>
    <message>
        <source>the operation %1 is unknown</source>
        <translation>未知的操作 %1</translation>
    </message>
    <message>
        <source>the kind %1 is unknown</source>
        <translation>未知的类别 %1</translation>
    </message>
    <message>
        <source>the format %1 is unknown</source>
        <translation>未知的格式 %1</translation>
    </message>
    <message>
        <source>the rule %1 is unknown</source>
        <translation>未知的规则 %1</translation>
    </message>
    <message>
        <source>the side %1 is unknown</source>
        <translation>未知的方向 %1</translation>
    </message>
    <message>
        <source>the hook %1 is unknown</source>
        <translation>未知的 hook %1</translation>
    </message>
    <message>
        <source>the field %1 is unknown</source>
        <translation>未知的字段 %1</translation>
    </message>
    <message>
        <source>the argument %1 is unknown</source>
        <translation>未知的参数 %1</translation>
    </message>
    <message>
        <source>did you mean &quot;%1&quot;?</source>
        <translation>是不是“%1”？</translation>
    </message>
    <message>
        <source>known are %1</source>
        <translation>已知的有 %1</translation>
    </message>
    <message>
        <source>&quot;%1&quot; matches nothing in this model</source>
        <translation>“%1”在此模型中没有匹配</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is no module of this model</source>
        <translation>“%1”不是此模型的模块</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is of type %2, which %3 does not look at</source>
        <translation>“%1”的类型为 %2，%3 不处理这种类型</translation>
    </message>
    <message>
        <source>rank %1 does not exist; this run has ranks %2 to %3</source>
        <translation>rank %1 不存在；此运行有 rank %2 到 %3</translation>
    </message>
    <message>
        <source>%1 has no rule_name; it must be AnomalyTurbulence or AnomalyNan</source>
        <translation>%1 没有 rule_name；必须是 AnomalyTurbulence 或 AnomalyNan</translation>
    </message>
    <message>
        <source>%1 needs &quot;args&quot;: {&quot;threshold&quot;: T} with T a number from 0; the rule is left out</source>
        <translation>%1 需要 &quot;args&quot;: {&quot;threshold&quot;: T}，T 为不小于 0 的数；此规则被忽略</translation>
    </message>
    <message>
        <source>%1 is %2; it must be %3</source>
        <translation>%1 为 %2；必须是%3</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation> true 或 false</translation>
    </message>
    <message>
        <source>a whole number from %1 to %2</source>
        <translation> %1 到 %2 的整数</translation>
    </message>
    <message>
        <source>a number from %1 to %2</source>
        <translation> %1 到 %2 的数</translation>
    </message>
    <message>
        <source>a number from %1 up</source>
        <translation>不小于 %1 的数</translation>
    </message>
    <message>
        <source>a string</source>
        <translation>字符串</translation>
    </message>
    <message>
        <source>a list of strings</source>
        <translation>字符串列表</translation>
    </message>
    <message>
        <source>a list of rules</source>
        <translation>规则列表</translation>
    </message>
    <message>
        <source>a list of operation names</source>
        <translation>操作名列表</translation>
    </message>
    <message>
        <source>a list of kinds</source>
        <translation>类别列表</translation>
    </message>
    <message>
        <source>a list of module names</source>
        <translation>模块名列表</translation>
    </message>
    <message>
        <source>a list of rank numbers, such as [0, 1]</source>
        <translation>rank 编号列表，例如 [0, 1]</translation>
    </message>
    <message>
        <source>a list of at most 16 heads, such as [0, 4]; an empty one means the first four</source>
        <translation>最多 16 个头的列表，例如 [0, 4]；空列表表示前四个</translation>
    </message>
    <message>
        <source>a format&apos;s name or a list of them</source>
        <translation>一个格式名或格式名列表</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>对象</translation>
    </message>
    <message>
        <source>an object of module or parameter names, such as {&quot;layers.0&quot;: {}}</source>
        <translation>以模块名或参数名为键的对象，例如 {&quot;layers.0&quot;: {}}</translation>
    </message>
    <message>
        <source>an object such as {} or %1</source>
        <translation>对象，例如 {} 或 %1</translation>
    </message>
    <message>
        <source>an object such as %1</source>
        <translation>对象，例如 %1</translation>
    </message>
    <message>
        <source>[] or two moments such as %1</source>
        <translation> [] 或两个时刻，例如 %1</translation>
    </message>
    <message>
        <source>&quot;%1&quot; or &quot;%2&quot;</source>
        <translation> &quot;%1&quot; 或 &quot;%2&quot;</translation>
    </message>
    <message>
        <source>one of %1</source>
        <translation>以下之一：%1</translation>
    </message>
    <message>
        <source>forward_only and backward_only are both true: neither activations nor their gradients are collected; set one of them to false</source>
        <translation>forward_only 与 backward_only 同为 true：激活值及其梯度都不采集；请将其中一个设为 false</translation>
    </message>
    <message>
        <source>a number in the config is larger than any number can be</source>
        <translation>配置中有一个数超出了可表示的范围</translation>
    </message>
    <message>
        <source>the config is not JSON: line %1 breaks it</source>
        <translation>配置不是 JSON：第 %1 行有误</translation>
    </message>
    <message>
        <source>// comments and trailing commas are allowed, nothing else beyond JSON is</source>
        <translation>除 // 注释和末尾逗号外，只允许标准 JSON</translation>
    </message>
    <message>
        <source>the config has objects or lists inside each other more than %1 deep</source>
        <translation>配置中对象或列表的嵌套超过 %1 层</translation>
    </message>
    <message>
        <source>the config is not a JSON object</source>
        <translation>配置不是 JSON 对象</translation>
    </message>
    <message>
        <source>it must look like {&quot;targets&quot;: {}, ...}</source>
        <translation>它应形如 {&quot;targets&quot;: {}, ...}</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 及另外 %2 个</translation>
    </message>
    <message>
        <source>rank %1 does not exist; this run has only rank %2</source>
        <translation>rank %1 不存在；此运行只有 rank %2</translation>
    </message>
    <message>
        <source>revision %1 of the config for %2, from step %3 on</source>
        <translation>配置修订 %1，用于%2，从第 %3 步起</translation>
    </message>
    <message>
        <source>revision %1 of the config is put off to step %2</source>
        <translation>配置修订 %1 推迟到第 %2 步</translation>
    </message>
    <message>
        <source>takes over revision %1 of the config</source>
        <translation>将采用配置修订 %1</translation>
    </message>
    <message>
        <source>runs revision %1 of the config</source>
        <translation>正在运行配置修订 %1</translation>
    </message>
    <message>
        <source>refuses revision %1 of the config: %2</source>
        <translation>拒绝配置修订 %1：%2</translation>
    </message>
    <message>
        <source>was past step %1 when revision %2 of the config came</source>
        <translation>配置修订 %2 到达时已过第 %1 步</translation>
    </message>
    <message>
        <source>all ranks</source>
        <translation>全部 rank</translation>
    </message>
    <message>
        <source>revision %1 has replaced it</source>
        <translation>已被修订 %1 取代</translation>
    </message>
    <message>
        <source>it was past the step %1 times</source>
        <translation>已有 %1 次错过该步</translation>
    </message>
    <message>
        <source>a list of steps, such as [0, 100]</source>
        <translation>步的列表，例如 [0, 100]</translation>
    </message>
    <message>
        <source>nothing is collected from this step on</source>
        <translation>从此步起不再采集</translation>
    </message>
    <message>
        <source>nothing is collected from this step on: %1</source>
        <translation>从此步起不再采集：%1</translation>
    </message>
    <message>
        <source>%1 steps are collected, as collect_times asks</source>
        <translation>已按 collect_times 的要求采集 %1 步</translation>
    </message>
    <message>
        <source>the changed config is in force from this step</source>
        <translation>修改后的配置从此步起生效</translation>
    </message>
    <message>
        <source>the config that is in force stays so: %1</source>
        <translation>仍沿用生效中的配置：%1</translation>
    </message>
    <message>
        <source>%1 in the changed config</source>
        <translation>修改后的配置中 %1</translation>
    </message>
    <message>
        <source>dynamic_on is false</source>
        <translation>dynamic_on 为 false</translation>
    </message>
    <message>
        <source>collect_times is 0</source>
        <translation>collect_times 为 0</translation>
    </message>
    <message>
        <source>collectives by call site, element type and process group: %1</source>
        <translation>按调用位置、元素类型和进程组列出的集合通信：%1</translation>
    </message>
    <message>
        <source>stack_info: the modules&apos; call stacks are in %1</source>
        <translation>stack_info：各模块的调用栈写在 %1</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>The settings were damaged and start fresh; the old ones are kept as %1.damaged</source>
        <translation>设置文件已损坏，现用默认设置；原文件保存为 %1.damaged</translation>
    </message>
    <message>
        <source>The settings are of a newer Telltale (version %1); they are kept as %2</source>
        <translation>设置来自更新的 Telltale（版本 %1），已保存为 %2</translation>
    </message>
</context>
<context>
    <name>Slot</name>
    <message>
        <source>before</source>
        <translation>调用前</translation>
    </message>
    <message>
        <source>after</source>
        <translation>调用后</translation>
    </message>
    <message>
        <source>head %1</source>
        <translation>头 %1</translation>
    </message>
</context>
<context>
    <name>Stat</name>
    <message>
        <source>norm</source>
        <translation>范数</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>min</source>
        <translation>最小值</translation>
    </message>
    <message>
        <source>max</source>
        <translation>最大值</translation>
    </message>
    <message>
        <source>largest magnitude</source>
        <translation>最大幅值</translation>
    </message>
    <message>
        <source>share of zeros</source>
        <translation>零值占比</translation>
    </message>
    <message>
        <source>NaN count</source>
        <translation>NaN 个数</translation>
    </message>
    <message>
        <source>+Inf count</source>
        <translation>+Inf 个数</translation>
    </message>
    <message>
        <source>-Inf count</source>
        <translation>-Inf 个数</translation>
    </message>
    <message>
        <source>value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>entropy</source>
        <translation>熵</translation>
    </message>
    <message>
        <source>softmax max</source>
        <translation>最大 softmax</translation>
    </message>
    <message>
        <source>stable rank</source>
        <translation>稳定秩</translation>
    </message>
    <message>
        <source>kernel norm</source>
        <translation>kernel 范数</translation>
    </message>
    <message>
        <source>agreement</source>
        <translation>一致率</translation>
    </message>
    <message>
        <source>similarity</source>
        <translation>相似度</translation>
    </message>
    <message>
        <source>max logit</source>
        <translation>最大 logit</translation>
    </message>
    <message>
        <source>fp16 underflow</source>
        <translation>fp16 下溢</translation>
    </message>
    <message>
        <source>fp16 overflow</source>
        <translation>fp16 上溢</translation>
    </message>
    <message>
        <source>bf16 underflow</source>
        <translation>bf16 下溢</translation>
    </message>
    <message>
        <source>bf16 overflow</source>
        <translation>bf16 上溢</translation>
    </message>
    <message>
        <source>e4m3 underflow</source>
        <translation>e4m3 下溢</translation>
    </message>
    <message>
        <source>e4m3 overflow</source>
        <translation>e4m3 上溢</translation>
    </message>
    <message>
        <source>e5m2 underflow</source>
        <translation>e5m2 下溢</translation>
    </message>
    <message>
        <source>e5m2 overflow</source>
        <translation>e5m2 上溢</translation>
    </message>
    <message>
        <source>checksum</source>
        <translation>校验和</translation>
    </message>
</context>
<context>
    <name>SystemMetrics</name>
    <message>
        <source>resident memory</source>
        <translation>常驻内存</translation>
    </message>
    <message>
        <source>process CPU</source>
        <translation>进程 CPU</translation>
    </message>
    <message>
        <source>machine CPU</source>
        <translation>整机 CPU</translation>
    </message>
    <message>
        <source>machine memory</source>
        <translation>整机内存</translation>
    </message>
    <message>
        <source>GPU memory allocated</source>
        <translation>已分配显存</translation>
    </message>
    <message>
        <source>GPU memory reserved</source>
        <translation>已预留显存</translation>
    </message>
    <message>
        <source>GPU memory used</source>
        <translation>已用显存</translation>
    </message>
    <message>
        <source>GPU use</source>
        <translation>GPU 利用率</translation>
    </message>
    <message>
        <source>GPU power</source>
        <translation>GPU 功耗</translation>
    </message>
    <message>
        <source>GPU temperature</source>
        <translation>GPU 温度</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>, </source>
        <comment>between the parts of a list</comment>
        <translation>，</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>two sentences</comment>
        <translation>%1%2</translation>
    </message>
    <message>
        <source>; </source>
        <comment>between the parts of a list</comment>
        <translation>；</translation>
    </message>
</context>
<context>
    <name>XAxis</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source> h</source>
        <translation> 小时</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source> min</source>
        <translation> 分钟</translation>
    </message>
    <message>
        <source>at %1</source>
        <comment>a time</comment>
        <translation>在 %1</translation>
    </message>
    <message>
        <source>at %1 samples</source>
        <translation>在第 %1 个样本</translation>
    </message>
    <message>
        <source>at %1 tokens</source>
        <translation>在第 %1 个 token</translation>
    </message>
</context>
<context>
    <name>items::ModuleTreeModel</name>
    <message>
        <source>(model)</source>
        <translation>（模型）</translation>
    </message>
</context>
<context>
    <name>telltale::config</name>
    <message>
        <source>Statistics of what collective communication sends and receives.</source>
        <translation>集合通信收发数据的统计量。</translation>
    </message>
    <message>
        <source>What the training process itself calls an anomaly while it runs.</source>
        <translation>训练进程在运行时自己判定为异常的内容。</translation>
    </message>
    <message>
        <source>Telltale&apos;s own fields; msprobe ignores this object.</source>
        <translation>Telltale 自有的字段；msprobe 会忽略此对象。</translation>
    </message>
    <message>
        <source>Modules and parameters to watch: an exact name selects the object and everything below it, * and ? match within one dotted component. Each may select &quot;tensor&quot; or an element &quot;tuple[2]:0&quot; of its input, output, input_grad and output_grad, counted as the training code wrote them. Empty: everything.</source>
        <translation>要监测的模块和参数：完整名称选中该对象及其下的一切，* 和 ? 只在点号分隔的一段内匹配。每个目标都可以对 input、output、input_grad、output_grad 选择 &quot;tensor&quot; 或其中一个元素 &quot;tuple[2]:0&quot;，按训练代码的写法计数。留空：全部。</translation>
    </message>
    <message>
        <source>Modules that each deeper analysis looks at, when recording_l2_features is on: lists of names under attention_hook, linear_hook, moe_router_logit_hook and moe_router_weight_hook. An empty list under linear_hook means every linear module, under the others none.</source>
        <translation>开启 recording_l2_features 时，各项深入分析所看的模块：attention_hook、linear_hook、moe_router_logit_hook 和 moe_router_weight_hook 下的名称列表。linear_hook 下的空列表表示所有线性模块，其他各项下的空列表表示没有。</translation>
    </message>
    <message>
        <source>Record the deeper analyses of l2_targets: attention, linear layers, routers.</source>
        <translation>记录 l2_targets 的深入分析：注意力、线性层、路由。</translation>
    </message>
    <message>
        <source>Order of the dimensions of an attention module&apos;s query and key inputs.</source>
        <translation>注意力模块的 query 和 key 输入的维度顺序。</translation>
    </message>
    <message>
        <source>Write the structure of every module&apos;s inputs and outputs at the first step. Training goes on, unless telltale.stop_after_struct asks for msprobe&apos;s stop.</source>
        <translation>在第一步写出每个模块输入和输出的结构。训练会继续，除非 telltale.stop_after_struct 要求像 msprobe 那样停止。</translation>
    </message>
    <message>
        <source>Ranks that collect. Empty: all.</source>
        <translation>进行采集的 rank。留空：全部。</translation>
    </message>
    <message>
        <source>Histograms of Adam&apos;s update and of its ratio, per parameter.</source>
        <translation>每个参数的 Adam 更新量及其比值的直方图。</translation>
    </message>
    <message>
        <source>Module inputs and outputs, and their gradients.</source>
        <translation>模块的输入、输出及其梯度。</translation>
    </message>
    <message>
        <source>With xy_distribution: every module, not the targets alone. Always so when there are no targets.</source>
        <translation>配合 xy_distribution：所有模块，而不只是目标。没有目标时总是如此。</translation>
    </message>
    <message>
        <source>With xy_distribution: only the forward pass.</source>
        <translation>配合 xy_distribution：只看前向。</translation>
    </message>
    <message>
        <source>With xy_distribution: only the backward pass.</source>
        <translation>配合 xy_distribution：只看反向。</translation>
    </message>
    <message>
        <source>The optimizer&apos;s first and second moments.</source>
        <translation>优化器的一阶矩和二阶矩。</translation>
    </message>
    <message>
        <source>Parameters before and after the optimizer&apos;s step.</source>
        <translation>优化器更新前后的参数。</translation>
    </message>
    <message>
        <source>Weight gradients, before and after the reduction over data-parallel ranks.</source>
        <translation>权重梯度，在数据并行各 rank 归约之前和之后。</translation>
    </message>
    <message>
        <source>Share of each parameter&apos;s elements whose gradient has the sign of the optimizer&apos;s momentum.</source>
        <translation>每个参数中梯度与优化器一阶矩同号的元素所占比例。</translation>
    </message>
    <message>
        <source>Watch the collective operations.</source>
        <translation>监测集合通信操作。</translation>
    </message>
    <message>
        <source>Regular expressions over the call stack, such as &quot;train.py\\[23\\]&quot;: only calls that one of them finds are watched. Empty: every call.</source>
        <translation>针对调用栈的正则表达式，例如 &quot;train.py\\[23\\]&quot;：只监测其中之一能匹配到的调用。留空：所有调用。</translation>
    </message>
    <message>
        <source>What goes into an operation too, not only what comes out.</source>
        <translation>除操作的输出外，也看它的输入。</translation>
    </message>
    <message>
        <source>Only tell from which lines each operation is called; measure nothing.</source>
        <translation>只说明每个操作从哪几行被调用，不做测量。</translation>
    </message>
    <message>
        <source>AnomalyTurbulence: a norm or mean beyond its running mean by more than the share `threshold`. AnomalyNan: a NaN, or a magnitude above `threshold` where one is given.</source>
        <translation>AnomalyTurbulence：范数或均值偏离其滑动均值的比例超过 `threshold`。AnomalyNan：出现 NaN，或在给出 `threshold` 时绝对值超过它。</translation>
    </message>
    <message>
        <source>Write each anomaly to anomaly_detected/rank{R}/anomaly.json as well.</source>
        <translation>把每个异常同时写入 anomaly_detected/rank{R}/anomaly.json。</translation>
    </message>
    <message>
        <source>The Python call stack of every module, once.</source>
        <translation>每个模块的 Python 调用栈，只记录一次。</translation>
    </message>
    <message>
        <source>Unreduced gradients at every micro step, not only the last of a step.</source>
        <translation>记录每个微步的未归约梯度，而不只是一步中的最后一个。</translation>
    </message>
    <message>
        <source>Where values go, one or several. Left out: the dashboard when a join string is set, else csv.</source>
        <translation>数值写到哪里，可以是一处或多处。不写：设置了接入串时送往仪表板，否则写 csv。</translation>
    </message>
    <message>
        <source>Statistics in files and alerts. The dashboard always gets all of them.</source>
        <translation>文件和告警中的统计量。仪表板总是得到全部统计量。</translation>
    </message>
    <message>
        <source>Elements of a smaller magnitude count as zeros.</source>
        <translation>绝对值更小的元素按零计数。</translation>
    </message>
    <message>
        <source>Decimals in csv files. Left out or null: 9 significant digits.</source>
        <translation>csv 文件中的小数位数。不写或为 null：9 位有效数字。</translation>
    </message>
    <message>
        <source>Steps that one csv file holds.</source>
        <translation>一个 csv 文件容纳的步数。</translation>
    </message>
    <message>
        <source>Two moments: a run continued after a stop writes on into this rank&apos;s output folder from between them.</source>
        <translation>两个时刻：中断后继续的训练会接着写入该 rank 在这两个时刻之间建立的输出目录。</translation>
    </message>
    <message>
        <source>Shorten names in files to what tells them apart.</source>
        <translation>把文件中的名称缩短到足以区分的部分。</translation>
    </message>
    <message>
        <source>First step that is collected.</source>
        <translation>采集的第一步。</translation>
    </message>
    <message>
        <source>Every how many steps one is collected.</source>
        <translation>每隔多少步采集一次。</translation>
    </message>
    <message>
        <source>How many steps are collected before collection ends.</source>
        <translation>采集多少步之后结束采集。</translation>
    </message>
    <message>
        <source>Attention entropy, softmax maximum and largest logit of every head of every module found to be attention.</source>
        <translation>凡识别为注意力的模块，其每个头的注意力熵、softmax 最大值和最大 logit。</translation>
    </message>
    <message>
        <source>Query rows looked at per head and pass. 0: all.</source>
        <translation>每个头每次前向所看的 query 行数。0：全部。</translation>
    </message>
    <message>
        <source>Gradient of a module&apos;s input. share: what flows through the module, as msprobe has it. total: what all consumers of the tensor send back. The C++ agent has the total alone.</source>
        <translation>模块输入的梯度。share：流经该模块的部分，与 msprobe 相同。total：该张量的所有使用者传回的总和。C++ 代理只提供 total。</translation>
    </message>
    <message>
        <source>End training once print_struct has written, as msprobe does.</source>
        <translation>print_struct 写完后结束训练，与 msprobe 相同。</translation>
    </message>
    <message>
        <source>End training once cc_distribution.cc_log_only has logged, as msprobe does.</source>
        <translation>cc_distribution.cc_log_only 记录完后结束训练，与 msprobe 相同。</translation>
    </message>
    <message>
        <source>AnomalyTurbulence looks at falls as well as rises, after a warm-up, and one NaN does not blind it.</source>
        <translation>AnomalyTurbulence 在预热之后既看上升也看下降，一个 NaN 不会使它失效。</translation>
    </message>
    <message>
        <source>An exact checksum of every tensor measured, which tells whether two are the same to the bit. It costs a second look at each element.</source>
        <translation>每个被测张量的精确校验和，可判断两个张量是否逐位相同。代价是每个元素要再看一遍。</translation>
    </message>
    <message>
        <source>Most threads that one call of the statistics kernel may use.</source>
        <translation>统计内核一次调用最多使用的线程数。</translation>
    </message>
    <message>
        <source>Collect, or wait until this becomes true: heeded where the environment sets DYNAMIC_MONITOR=True, and in every config that a dashboard sends. Otherwise a training collects from its start.</source>
        <translation>开始采集，或等待此项变为 true：在环境变量 DYNAMIC_MONITOR=True 时，以及在仪表板发来的每份配置中有效。否则训练从一开始就采集。</translation>
    </message>
    <message>
        <source>Most that monitoring may take of the training&apos;s own time, in percent. Where what is collected takes more, only every 2nd, 4th, 8th (and so on, up to every 1024th) of the steps that the config selects is collected, whole, and the run&apos;s log says so. Left out, null or 0: no limit.</source>
        <translation>监控最多可占训练自身时间的百分比。若采集所需的时间超过它，则配置所选的步中每 2、4、8 步（依此类推，最多 1024 步）才采集一步，采集的步总是完整的，运行日志中会说明。省略、null 或 0：不限制。</translation>
    </message>
    <message>
        <source>Keep the last so many steps of what this config does not send in memory, and send them when something goes wrong: a value that is not finite, a step that is given up, a training that ends with an error, an incident that the dashboard finds. Kept are weights, gradients, moments, activations and attention of the targets, as far as they are not collected, at every step and on every rank. true: 32 steps; false or 0: none. Measuring them takes its time in every step, which counts for overhead_budget.</source>
        <translation>将此配置不发送的内容的最近若干步保留在内存中，出问题时再发送：出现非有限值、某一步被放弃、训练因错误结束，或仪表板发现了事件。保留的是目标的权重、梯度、矩、激活值和注意力中未被采集的部分，每一步、每个 rank 都保留。true：32 步；false 或 0：不保留。测量它们在每一步都要花时间，并计入 overhead_budget。</translation>
    </message>
    <message>
        <source>Keep in the run what the training runs on: versions, GPUs, host, git commit, command line without keys and passwords. Never the environment&apos;s variables. TELLTALE_ENVIRONMENT=off switches it off, too.</source>
        <translation>在运行中保留训练的环境：版本、GPU、主机、git 提交、不含密钥和密码的命令行。绝不保留环境变量。TELLTALE_ENVIRONMENT=off 也可将其关闭。</translation>
    </message>
    <message>
        <source>What the training&apos;s process, its machine and its GPUs use, every five seconds: scalars whose names begin with system/. TELLTALE_SYSTEM_METRICS=off switches it off, too.</source>
        <translation>训练进程、所在机器及其 GPU 的资源占用，每五秒一次：名称以 system/ 开头的标量。TELLTALE_SYSTEM_METRICS=off 也可将其关闭。</translation>
    </message>
    <message>
        <source>Heads whose attention is sent as a map of queries and keys, by module: {&quot;layers.7.attn&quot;: [0, 4]}; an empty list means the first four. A map is made of all weights of the first sequence of a batch, which costs about as much as the attention of that head itself. At most 64 heads a step; their statistics come with them.</source>
        <translation>以 query 与 key 的图发送其注意力的头，按模块给出：{&quot;layers.7.attn&quot;: [0, 4]}；空列表表示前四个头。图由一批中首个序列的全部权重得出，开销与该头自身的注意力相当。每步最多 64 个头；其统计量一并采集。</translation>
    </message>
    <message>
        <source>Every how many steps attention_maps are sent, counted from start_step: at the first that is collected.</source>
        <translation>每隔多少步发送 attention_maps，自 start_step 起计：在其中第一个被采集的步发送。</translation>
    </message>
    <message>
        <source>Rows and columns that a map has at most: where a sequence is longer, several queries share a row and several keys a column.</source>
        <translation>图最多的行数与列数：序列更长时，多个 query 共用一行，多个 key 共用一列。</translation>
    </message>
    <message>
        <source>Steps at which attention_maps are sent, in place of attention_maps_interval. Where a listed step is not collected, they are sent at the next that is; steps before the config came into force are not made up for. Empty: at the interval.</source>
        <translation>发送 attention_maps 的步，取代 attention_maps_interval。列出的步未被采集时，在其后第一个被采集的步发送；配置生效之前的步不补发。留空：按间隔发送。</translation>
    </message>
    <message>
        <source>Kinds whose tensors get a histogram beside their statistics, at every step that collects them: signed bins by powers of two, from which the dashboard reads quantiles and what fp16, bf16 and fp8 would lose. Those of update and ratio, which ur_distribution collects, take the place of its 30 linear bins.</source>
        <translation>这些类别的张量除统计量外还在每个采集步得到一个直方图：按二的幂划分的带符号区间，面板由此得出分位数以及 fp16、bf16 和 fp8 会丢失的部分。update 与 ratio 由 ur_distribution 采集，此直方图取代其 30 个线性区间。</translation>
    </message>
</context>
<context>
    <name>telltale::items::ConnectionsModel</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/秒</translation>
    </message>
    <message>
        <source>not connected</source>
        <translation>未连接</translation>
    </message>
    <message>
        <source>connected, TLS</source>
        <translation>已连接，TLS</translation>
    </message>
    <message>
        <source>connected</source>
        <translation>已连接</translation>
    </message>
    <message numerus="yes">
        <source>%1, %2
%n reconnect(s), </source>
        <translation>
            <numerusform>%1，%2
重连 %n 次，</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 batches, %2 duplicates, %3 refused</source>
        <translation>%1 批，重复 %2，拒绝 %3</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Lag</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Spool</source>
        <translation>暂存</translation>
    </message>
    <message>
        <source>Received</source>
        <translation>已接收</translation>
    </message>
    <message>
        <source>Rate</source>
        <translation>速率</translation>
    </message>
    <message>
        <source>Agent</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>已结束</translation>
    </message>
</context>
<context>
    <name>telltale::items::IncidentsModel</name>
    <message>
        <source>the step&apos;s time</source>
        <translation>步的用时</translation>
    </message>
    <message>
        <source>the run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>critical</source>
        <translation>严重</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>notice</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>open</source>
        <translation>未平息</translation>
    </message>
    <message>
        <source>acknowledged</source>
        <translation>已知悉</translation>
    </message>
    <message>
        <source>false alarm</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>true alarm</source>
        <translation>属实</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>严重程度</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>What was seen</source>
        <translation>观察到的现象</translation>
    </message>
    <message>
        <source>Folded</source>
        <translation>折叠</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>quiet</source>
        <translation>已平息</translation>
    </message>
</context>
<context>
    <name>telltale::items::LogModel</name>
    <message>
        <source>%1 items were not stored: %2</source>
        <translation>%1 项未能保存：%2</translation>
    </message>
    <message>
        <source>%1 items of steps %2 to %3 were not stored: %4</source>
        <translation>第 %2 至 %3 步的 %1 项未能保存：%4</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>What</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>%1 (to step %2)</source>
        <translation>%1（至第 %2 步）</translation>
    </message>
    <message>
        <source>%1 (removed)</source>
        <translation>%1（已删除）</translation>
    </message>
    <message>
        <source>annotation</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>anomaly</source>
        <translation>异常</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>clock</source>
        <translation>时钟</translation>
    </message>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>damage</source>
        <translation>损坏</translation>
    </message>
    <message>
        <source>drop</source>
        <translation>丢失</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>缺口</translation>
    </message>
    <message>
        <source>incident</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>judged</source>
        <translation>已判断</translation>
    </message>
    <message>
        <source>log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>repaired</source>
        <translation>已修复</translation>
    </message>
    <message>
        <source>restart</source>
        <translation>重启</translation>
    </message>
    <message>
        <source>rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>thinned</source>
        <translation>已精简</translation>
    </message>
    <message>
        <source>the incident of this step is acknowledged</source>
        <translation>这一步的异常事件已知悉</translation>
    </message>
    <message>
        <source>the incident of this step is a true alarm</source>
        <translation>这一步的异常事件属实</translation>
    </message>
    <message>
        <source>the incident of this step is a false alarm</source>
        <translation>这一步的异常事件为误报</translation>
    </message>
    <message>
        <source>on the incident of this step: %1</source>
        <translation>关于这一步的异常事件：%1</translation>
    </message>
</context>
<context>
    <name>telltale::items::ModuleTreeModel</name>
    <message>
        <source>nothing measured</source>
        <translation>无测量值</translation>
    </message>
    <message>
        <source>first non-finite value</source>
        <translation>首个非有限值</translation>
    </message>
    <message>
        <source>non-finite, downstream</source>
        <translation>非有限值，受下游影响</translation>
    </message>
    <message>
        <source>at most %1 deviations from what came before</source>
        <translation>与此前水平相比最多偏离 %1 个稳健偏差</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Worst deviation</source>
        <translation>最大偏离</translation>
    </message>
    <message>
        <source>%1, not finite on rank %2</source>
        <translation>%1，在 rank %2 上非有限</translation>
    </message>
    <message>
        <source>(model)</source>
        <translation>（模型）</translation>
    </message>
    <message>
        <source>The largest deviation in the run of the kind and statistic that are shown: how far a value left the median of the eight before it, in their spread or, where it is larger, in the usual one of the run so far: a live run that gets noisier makes what was seen before smaller. The bar of the largest in the model is full, and equal factors are equal lengths.</source>
        <translation>当前种类与统计量在本次运行中的最大偏离：一个值偏离其前八个值的中位数多远，以这八个值的离散度为单位；若运行至今的通常离散度更大，则以后者为单位：实时运行变得更嘈杂时，先前的偏离会变小。模型中最大者的条为满格，相同的倍数对应相同的长度。</translation>
    </message>
</context>
<context>
    <name>telltale::items::RunsModel</name>
    <message>
        <source>Live</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Archived</source>
        <translation>已归档</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Rank 数</translation>
    </message>
    <message>
        <source>Last step</source>
        <translation>最后一步</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>%1, %2, %3</source>
        <translation>%1，%2，%3</translation>
    </message>
    <message numerus="yes">
        <source>started %1, %n ranks</source>
        <translation>
            <numerusform>开始于 %1，%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>%1: its runs are only read</source>
        <translation>%1：其中的运行只读</translation>
    </message>
    <message>
        <source>pinned: no rule removes it</source>
        <translation>已固定，不受清理规则影响</translation>
    </message>
    <message>
        <source>%1, pinned</source>
        <translation>%1，已固定</translation>
    </message>
    <message numerus="yes">
        <source>%n critical incidents</source>
        <translation>
            <numerusform>%n 个严重异常事件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warnings</source>
        <translation>
            <numerusform>%n 个警告</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::notify::DesktopChannel</name>
    <message numerus="yes">
        <source>Telltale: %n more incident(s)</source>
        <translation>
            <numerusform>Telltale：另有 %n 个事件</numerusform>
        </translation>
    </message>
    <message>
        <source>Show in Telltale</source>
        <translation>在 Telltale 中查看</translation>
    </message>
</context>
<context>
    <name>telltale::shell::AlertJump</name>
    <message>
        <source>The run has no such incident any more</source>
        <translation>此运行中已没有该事件</translation>
    </message>
</context>
<context>
    <name>telltale::shell::AlertsDialog</name>
    <message>
        <source>Alerts</source>
        <translation>告警</translation>
    </message>
    <message>
        <source>Sending…</source>
        <translation>正在发送…</translation>
    </message>
    <message>
        <source>Warnings and critical incidents</source>
        <translation>警告和严重事件</translation>
    </message>
    <message>
        <source>Critical incidents only</source>
        <translation>仅严重事件</translation>
    </message>
    <message>
        <source>Show a notification where this window does not show the run</source>
        <translation>本窗口未显示该运行时弹出桌面通知</translation>
    </message>
    <message>
        <source>Write a line into the training&apos;s own output</source>
        <translation>在训练任务的输出中写一行</translation>
    </message>
    <message>
        <source>Post to a webhook</source>
        <translation>发送到 Webhook</translation>
    </message>
    <message>
        <source>JSON with the whole incident</source>
        <translation>包含完整事件的 JSON</translation>
    </message>
    <message>
        <source>Send a test</source>
        <translation>发送测试</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Tell of</source>
        <translation>通知范围</translation>
    </message>
    <message>
        <source>Service</source>
        <translation>服务</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Signing secret</source>
        <translation>加签密钥</translation>
    </message>
    <message numerus="yes">
        <source>The file names %n more receiver(s), which stay.</source>
        <translation>
            <numerusform>文件中还有 %n 个接收者，将保持不变。</numerusform>
        </translation>
    </message>
    <message>
        <source>The address must begin with https:// or http://</source>
        <translation>地址必须以 https:// 或 http:// 开头</translation>
    </message>
    <message>
        <source>Told: %1: %2</source>
        <translation>已送达：%1：%2</translation>
    </message>
    <message>
        <source>Not told: %1: %2</source>
        <translation>未送达：%1：%2</translation>
    </message>
    <message>
        <source>Nobody would be told.</source>
        <translation>没有任何接收者。</translation>
    </message>
    <message>
        <source>Feishu</source>
        <translation>飞书</translation>
    </message>
    <message>
        <source>DingTalk</source>
        <translation>钉钉</translation>
    </message>
</context>
<context>
    <name>telltale::shell::ArchiveActions</name>
    <message>
        <source>%1 lies in %2, which is only read here: import it, and move the copy</source>
        <translation>%1 位于 %2，这里只读取该文件夹：请先导入，再移动副本</translation>
    </message>
    <message>
        <source>%1 is being recorded: move it when it has ended</source>
        <translation>%1 正在记录：请在结束后再移动</translation>
    </message>
    <message numerus="yes">
        <source>%n runs</source>
        <translation>
            <numerusform>%n 次运行</numerusform>
        </translation>
    </message>
    <message>
        <source>Moved back: %1</source>
        <translation>已移回：%1</translation>
    </message>
    <message>
        <source>Moved out of the folders: %1</source>
        <translation>已移出文件夹：%1</translation>
    </message>
    <message>
        <source>Moved to %1: %2</source>
        <translation>已移到 %1：%2</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Pinned, and safe from every rule: %1</source>
        <translation>已固定，不受清理规则影响：%1</translation>
    </message>
    <message>
        <source>Not pinned any more: %1</source>
        <translation>已取消固定：%1</translation>
    </message>
    <message>
        <source>Delete for good</source>
        <translation>彻底删除</translation>
    </message>
    <message>
        <source>Back in the list: %1</source>
        <translation>已回到列表：%1</translation>
    </message>
</context>
<context>
    <name>telltale::shell::CollectSwitch</name>
    <message>
        <source>Whether the ranks of this run collect, as they report it; a click has all of them start or stop</source>
        <translation>此运行的各 rank 是否在采集（以它们的报告为准）；单击可让全部开始或停止</translation>
    </message>
    <message>
        <source>waits for ranks %1</source>
        <translation>等待 rank %1</translation>
    </message>
    <message>
        <source>on %1 of %2 ranks</source>
        <translation>%2 个 rank 中 %1 个已开启</translation>
    </message>
    <message numerus="yes">
        <source>dynamic_on of %n run(s)</source>
        <translation>
            <numerusform>%n 个训练的 dynamic_on</numerusform>
        </translation>
    </message>
    <message>
        <source>no rank connected</source>
        <translation>没有 rank 连接</translation>
    </message>
</context>
<context>
    <name>telltale::shell::CommandPalette</name>
    <message>
        <source>Go to module, step or command</source>
        <translation>转到模块、步或命令</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>nothing found</source>
        <translation>没有找到</translation>
    </message>
</context>
<context>
    <name>telltale::shell::Commands</name>
    <message>
        <source>Stop the i&amp;mport</source>
        <translation>停止导入(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open a run…</source>
        <translation>打开运行(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Import a run…</source>
        <translation>导入运行(&amp;I)…</translation>
    </message>
    <message>
        <source>Export the view as a &amp;picture…</source>
        <translation>将视图导出为图片(&amp;P)…</translation>
    </message>
    <message>
        <source>Export the view as &amp;CSV…</source>
        <translation>将视图导出为 CSV(&amp;C)…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>Copy the &amp;join string</source>
        <translation>复制接入串(&amp;J)</translation>
    </message>
    <message>
        <source>&amp;Filter modules</source>
        <translation>筛选模块(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Search runs</source>
        <translation>搜索运行(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Go to module, step or command</source>
        <translation>转到模块、步或命令(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Follow the newest steps</source>
        <translation>跟随最新的步(&amp;F)</translation>
    </message>
    <message>
        <source>Zoom &amp;back</source>
        <translation>返回上一缩放(&amp;B)</translation>
    </message>
    <message>
        <source>Zoom f&amp;orward</source>
        <translation>前往下一缩放(&amp;O)</translation>
    </message>
    <message>
        <source>Show the &amp;whole run</source>
        <translation>显示整个运行(&amp;W)</translation>
    </message>
    <message>
        <source>Cursor one step left</source>
        <translation>光标左移一步</translation>
    </message>
    <message>
        <source>Cursor one step right</source>
        <translation>光标右移一步</translation>
    </message>
    <message>
        <source>Cursor ten steps left</source>
        <translation>光标左移十步</translation>
    </message>
    <message>
        <source>Cursor ten steps right</source>
        <translation>光标右移十步</translation>
    </message>
    <message>
        <source>&amp;Pin or release the cursor</source>
        <translation>固定或松开光标(&amp;P)</translation>
    </message>
    <message>
        <source>Set mark &amp;A</source>
        <translation>设置标记 A(&amp;A)</translation>
    </message>
    <message>
        <source>Set mark &amp;B</source>
        <translation>设置标记 B(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Clear cursor and marks</source>
        <translation>清除光标和标记(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>Run the &amp;demo</source>
        <translation>运行演示(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Rename the run…</source>
        <translation>重命名运行(&amp;R)…</translation>
    </message>
    <message>
        <source>&amp;Export a copy of the run…</source>
        <translation>导出运行副本(&amp;E)…</translation>
    </message>
    <message>
        <source>De&amp;lete the run…</source>
        <translation>删除运行(&amp;L)…</translation>
    </message>
    <message>
        <source>End the &amp;comparison</source>
        <translation>结束对比(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Window</source>
        <translation>窗口(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Next panel</source>
        <translation>下一个面板(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Reset the layout</source>
        <translation>重置布局(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Keys</source>
        <translation>快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;About Telltale</source>
        <translation>关于 Telltale(&amp;A)</translation>
    </message>
    <message>
        <source>About Telltale</source>
        <translation>关于 Telltale</translation>
    </message>
    <message>
        <source>Telltale %1
What happens inside a neural network while it trains.
GPL-3.0-or-later</source>
        <translation>Telltale %1
看清神经网络训练时内部发生的一切。
GPL-3.0-or-later</translation>
    </message>
    <message>
        <source>This run has no incidents</source>
        <translation>此运行没有异常事件</translation>
    </message>
    <message>
        <source>No incident comes after this one</source>
        <translation>之后没有异常事件</translation>
    </message>
    <message>
        <source>No incident comes before this one</source>
        <translation>之前没有异常事件</translation>
    </message>
    <message>
        <source>Pre&amp;vious incident</source>
        <translation>上一个异常事件(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Next incident</source>
        <translation>下一个异常事件(&amp;N)</translation>
    </message>
    <message>
        <source>Previous non-finite value</source>
        <translation>上一个非有限值</translation>
    </message>
    <message>
        <source>Next non-finit&amp;e value</source>
        <translation>下一个非有限值(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Alerts…</source>
        <translation>告警(&amp;A)…</translation>
    </message>
    <message>
        <source>Export the view as S&amp;VG…</source>
        <translation>将视图导出为 S&amp;VG…</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>R&amp;edo</source>
        <translation>重做(&amp;E)</translation>
    </message>
    <message>
        <source>Write a &amp;note at the cursor…</source>
        <translation>在光标处写备注(&amp;N)…</translation>
    </message>
    <message>
        <source>Next vie&amp;w</source>
        <translation>下一个视图(&amp;W)</translation>
    </message>
    <message>
        <source>Previous view</source>
        <translation>上一个视图</translation>
    </message>
    <message>
        <source>P&amp;resent the view in a window of its own</source>
        <translation>在单独窗口中展示视图(&amp;R)</translation>
    </message>
    <message>
        <source>Run a demo that goes &amp;wrong</source>
        <translation>带故障的演示(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Previous panel</source>
        <translation>上一个面板(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Save the layout…</source>
        <translation>保存布局(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Move to a folder…</source>
        <translation>移动到文件夹(&amp;M)…</translation>
    </message>
    <message>
        <source>&amp;Pin: no rule removes it</source>
        <translation>固定，不受清理规则影响(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Unpin</source>
        <translation>取消固定(&amp;U)</translation>
    </message>
    <message>
        <source>Show the &amp;trash…</source>
        <translation>打开回收站(&amp;T)…</translation>
    </message>
    <message>
        <source>&amp;Steps</source>
        <translation>步(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Apply config…</source>
        <translation>应用配置(&amp;A)…</translation>
    </message>
</context>
<context>
    <name>telltale::shell::DamageStrip</name>
    <message>
        <source>This run is damaged, and shows only what could be read of it: %1</source>
        <translation>此运行已损坏，仅显示能读出的部分：%1</translation>
    </message>
    <message>
        <source>&apos;telltale inspect --verify&apos; lists everything that is lost.</source>
        <translation>“telltale inspect --verify”会列出所有丢失的内容。</translation>
    </message>
</context>
<context>
    <name>telltale::shell::FolderDialog</name>
    <message>
        <source>Move to a folder</source>
        <translation>移动到文件夹</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>A folder below, or a new one such as llama/ablation</source>
        <translation>下面的文件夹，或新的文件夹，例如 llama/ablation</translation>
    </message>
    <message>
        <source>Folders that hold runs</source>
        <translation>存有运行的文件夹</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>不放入文件夹</translation>
    </message>
    <message>
        <source>Move</source>
        <translation>移动</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>In no folder already</source>
        <translation>本来就不在文件夹中</translation>
    </message>
    <message>
        <source>There already</source>
        <translation>已经在那里</translation>
    </message>
    <message>
        <source>A new folder is made</source>
        <translation>将新建文件夹</translation>
    </message>
</context>
<context>
    <name>telltale::shell::Imports</name>
    <message>
        <source>Importing %1: %2 %</source>
        <translation>正在导入 %1：%2 %</translation>
    </message>
    <message>
        <source>%1, %2 more wait</source>
        <translation>%1，另有 %2 个等待中</translation>
    </message>
    <message>
        <source>The import of %1 was canceled: nothing is left of it</source>
        <translation>已取消导入 %1：未留下任何内容</translation>
    </message>
    <message>
        <source>%1 cannot be imported: %2</source>
        <translation>无法导入 %1：%2</translation>
    </message>
    <message>
        <source>Imported %1</source>
        <translation>已导入 %1</translation>
    </message>
    <message>
        <source>Imported %1; not all of it: %2</source>
        <translation>已导入 %1，但并不完整：%2</translation>
    </message>
    <message>
        <source>%1 is here already: “telltale import --again” imports it anew</source>
        <translation>%1 已在此处：“telltale import --again” 会重新导入</translation>
    </message>
</context>
<context>
    <name>telltale::shell::KeysSheet</name>
    <message>
        <source>Keys</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>In a plot</source>
        <translation>图中</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>First visible step</source>
        <translation>可见的第一步</translation>
    </message>
    <message>
        <source>Last visible step</source>
        <translation>可见的最后一步</translation>
    </message>
    <message>
        <source>Hide or show the nearest curve</source>
        <translation>隐藏或显示最近的曲线</translation>
    </message>
    <message>
        <source>Show the nearest curve alone, or all again</source>
        <translation>只显示最近的曲线，或重新显示全部</translation>
    </message>
    <message>
        <source>In the Config view</source>
        <translation>配置视图中</translation>
    </message>
</context>
<context>
    <name>telltale::shell::LayoutPreset</name>
    <message>
        <source>Layout: &amp;overview</source>
        <translation>布局：总览(&amp;O)</translation>
    </message>
    <message>
        <source>Layout: &amp;hunt for the cause</source>
        <translation>布局：查找原因(&amp;H)</translation>
    </message>
    <message>
        <source>Layout: &amp;compare runs</source>
        <translation>布局：对比运行(&amp;C)</translation>
    </message>
</context>
<context>
    <name>telltale::shell::Layouts</name>
    <message>
        <source>Save the layout</source>
        <translation>保存布局</translation>
    </message>
    <message>
        <source>Panels, sizes and the view that is shown, under a name:</source>
        <translation>以一个名称保存面板、尺寸和当前视图：</translation>
    </message>
</context>
<context>
    <name>telltale::shell::LogFeed</name>
    <message>
        <source>Telltale</source>
        <translation>Telltale</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>已拒绝</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>telltale::shell::MainMenu</name>
    <message>
        <source>Saved &amp;layouts</source>
        <translation>已保存的布局(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>删除(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>Follow system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>The language changes at the next start</source>
        <translation>语言将在下次启动时生效</translation>
    </message>
</context>
<context>
    <name>telltale::shell::MainWindow</name>
    <message>
        <source>What was dropped is not on this machine: copy it here first</source>
        <translation>拖放的内容不在本机上：请先将其复制到本机</translation>
    </message>
    <message>
        <source>The join string is on the clipboard</source>
        <translation>接入串已复制到剪贴板</translation>
    </message>
    <message>
        <source>open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>copy join string</source>
        <translation>复制接入串</translation>
    </message>
    <message>
        <source>keys</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>退格</translation>
    </message>
    <message>
        <source>zoom back</source>
        <translation>返回上一缩放</translation>
    </message>
    <message>
        <source>go to</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>previous, next incident</source>
        <translation>上一个、下一个异常事件</translation>
    </message>
    <message>
        <source>This run has no non-finite values</source>
        <translation>此运行没有非有限值</translation>
    </message>
    <message>
        <source>No further non-finite values after step %1</source>
        <translation>第 %1 步之后没有更多非有限值</translation>
    </message>
    <message>
        <source>No non-finite values before step %1</source>
        <translation>第 %1 步之前没有非有限值</translation>
    </message>
    <message>
        <source>This window records now</source>
        <translation>本窗口现在开始记录</translation>
    </message>
    <message>
        <source>%1. This window records as soon as that has ended.</source>
        <translation>%1。它结束后，本窗口立即开始记录。</translation>
    </message>
</context>
<context>
    <name>telltale::shell::MonitoringCost</name>
    <message>
        <source>%1 of %2 (%3)</source>
        <translation>%2 中的 %1（%3）</translation>
    </message>
    <message>
        <source>Rank %1: of a step, monitoring takes %2, over the last seconds and by the host&apos;s clock. No other rank that reports it gives it a larger share.</source>
        <translation>rank %1：最近几秒内，监控占每步时间的 %2（按主机时钟）。在报告此项的 rank 中，没有占比更高的。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) do not report it (%1): their agent is older, or has only just begun.</source>
        <translation>
            <numerusform>%n 个 rank 未报告此项（%1）：其代理版本较旧，或刚刚启动。</numerusform>
        </translation>
    </message>
    <message>
        <source>Rank %1 collects %2, to stay within %3.</source>
        <comment>every 4th step, 2 %</comment>
        <translation>rank %1 %2采集一次，以保持在 %3 以内。</translation>
    </message>
</context>
<context>
    <name>telltale::shell::NoteDialog</name>
    <message>
        <source>Note at %1</source>
        <translation>%1 的备注</translation>
    </message>
    <message>
        <source>What happened here, or what was changed</source>
        <translation>这里发生了什么，或改了什么</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>telltale::shell::Notes</name>
    <message>
        <source>A note stands at a step: click into a plot, or set A and B for a range</source>
        <translation>备注写在某一步上：请先点击图表，或用 A 和 B 标出范围</translation>
    </message>
    <message>
        <source>The note at %1 is removed</source>
        <translation>%1 的备注已删除</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>telltale::shell::PaletteButton</name>
    <message>
        <source>Go to module, step or command</source>
        <translation>转到模块、步或命令</translation>
    </message>
    <message>
        <source>Go to module, step or command (Ctrl+K)</source>
        <translation>转到模块、步或命令 (Ctrl+K)</translation>
    </message>
    <message>
        <source>Go to...</source>
        <translation>转到...</translation>
    </message>
</context>
<context>
    <name>telltale::shell::PaletteSearch</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>layout</source>
        <translation>布局</translation>
    </message>
    <message>
        <source>view</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>panel</source>
        <translation>面板</translation>
    </message>
    <message>
        <source>command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>setting</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>集合通信</translation>
    </message>
    <message>
        <source>scalar</source>
        <translation>标量</translation>
    </message>
</context>
<context>
    <name>telltale::shell::PanelFactory</name>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Modules</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Connections</source>
        <translation>连接</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Anomaly timeline</source>
        <translation>异常时间线</translation>
    </message>
</context>
<context>
    <name>telltale::shell::RunActions</name>
    <message>
        <source>Open a run</source>
        <translation>打开运行</translation>
    </message>
    <message>
        <source>Telltale runs (*.telltale);;All files (*)</source>
        <translation>Telltale 运行 (*.telltale);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Rename the run</source>
        <translation>重命名运行</translation>
    </message>
    <message>
        <source>Name:</source>
        <translation>名称：</translation>
    </message>
    <message>
        <source>Delete the run</source>
        <translation>删除运行</translation>
    </message>
    <message>
        <source>Delete “%1” (%2)? It goes to the trash of the data directory.</source>
        <translation>删除“%1”（%2）？它将移入数据目录的回收站。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Deleted %1</source>
        <translation>已删除 %1</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Export a copy of the run</source>
        <translation>导出运行副本</translation>
    </message>
    <message>
        <source>Telltale runs (*.telltale)</source>
        <translation>Telltale 运行 (*.telltale)</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Import a run</source>
        <translation>导入运行</translation>
    </message>
    <message>
        <source>This file cannot be imported: %1</source>
        <translation>无法导入此文件：%1</translation>
    </message>
    <message>
        <source>Imported %1</source>
        <translation>已导入 %1</translation>
    </message>
    <message>
        <source>Renamed to %1</source>
        <translation>已重命名为 %1</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n runs (%1)? They go to the trash of the data directory.</source>
        <translation>
            <numerusform>删除 %n 次运行（%1）？它们将移入数据目录的回收站。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n runs</source>
        <translation>
            <numerusform>%n 次运行</numerusform>
        </translation>
    </message>
    <message>
        <source>Back in the list: %1</source>
        <translation>已回到列表：%1</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>telltale::shell::RunButton</name>
    <message>
        <source>Choose a run</source>
        <translation>选择运行</translation>
    </message>
    <message>
        <source>Run %1, %2</source>
        <translation>运行 %1，%2</translation>
    </message>
    <message>
        <source>No run</source>
        <translation>没有运行</translation>
    </message>
</context>
<context>
    <name>telltale::shell::RunDriver</name>
    <message>
        <source>%1 is empty: it holds no run</source>
        <translation>%1 是空文件：其中没有运行</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>telltale::shell::SparkLine</name>
    <message>
        <source>Step rate of the last minute</source>
        <translation>最近一分钟的步速</translation>
    </message>
</context>
<context>
    <name>telltale::shell::StatusLine</name>
    <message>
        <source>Show the connections</source>
        <translation>显示连接</translation>
    </message>
    <message>
        <source>Frames a second that the window can answer; falls when something holds it up</source>
        <translation>窗口每秒可响应的帧数；有阻塞时下降</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>记录中</translation>
    </message>
    <message>
        <source>Not recording</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>Listening on %1</source>
        <translation>正在监听 %1</translation>
    </message>
    <message>
        <source>store %1</source>
        <translation>存储 %1</translation>
    </message>
    <message>
        <source>store empty</source>
        <translation>存储为空</translation>
    </message>
    <message>
        <source>%1 B per sample</source>
        <translation>每样本 %1 B</translation>
    </message>
    <message numerus="yes">
        <source>%n agent(s) on %1</source>
        <translation>
            <numerusform>%n 个代理，%1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n agent(s)</source>
        <translation>
            <numerusform>%n 个代理</numerusform>
        </translation>
    </message>
    <message>
        <source>spool %1</source>
        <translation>暂存 %1</translation>
    </message>
</context>
<context>
    <name>telltale::shell::Toast</name>
    <message>
        <source>Dismiss</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>telltale::shell::ToolBar</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>steps/s</source>
        <translation>步/秒</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>lag</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>dropped</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>samples/s</source>
        <translation>样本/秒</translation>
    </message>
    <message>
        <source>Waiting for the first agent</source>
        <translation>等待第一个代理</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>monitoring</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>a step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 小时</translation>
    </message>
    <message>
        <source>no rank connected for %1</source>
        <translation>已有 %1 没有 rank 连接</translation>
    </message>
</context>
<context>
    <name>telltale::shell::TrashDialog</name>
    <message>
        <source>Trash</source>
        <translation>回收站</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Deleted</source>
        <translation>删除时间</translation>
    </message>
    <message>
        <source>Was in</source>
        <translation>原文件夹</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Deleted runs</source>
        <translation>已删除的运行</translation>
    </message>
    <message>
        <source>Reading the trash…</source>
        <translation>正在读取回收站…</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Delete for good…</source>
        <translation>彻底删除…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>The trash is empty.</source>
        <translation>回收站是空的。</translation>
    </message>
    <message numerus="yes">
        <source>%n runs take %1. They stay here until you delete them for good.</source>
        <translation>
            <numerusform>%n 次运行占用 %1。在您彻底删除之前，它们一直留在这里。</numerusform>
        </translation>
    </message>
    <message>
        <source>no folder</source>
        <translation>无文件夹</translation>
    </message>
    <message>
        <source>Delete “%1” (%2) for good? Nothing brings it back.</source>
        <translation>彻底删除“%1”（%2）？删除后无法恢复。</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n runs (%1) for good? Nothing brings them back.</source>
        <translation>
            <numerusform>彻底删除 %n 次运行（%1）？删除后无法恢复。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::shell::ViewExport</name>
    <message>
        <source>Tables (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>Export the view as a picture</source>
        <translation>将视图导出为图片</translation>
    </message>
    <message>
        <source>Export what the view shows as a table</source>
        <translation>将视图内容导出为表格</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Cannot write %1: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>Drawings (*.svg)</source>
        <translation>矢量图 (*.svg)</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>图片 (*.png)</translation>
    </message>
    <message>
        <source>Export the view as lines and words</source>
        <translation>将视图导出为矢量图</translation>
    </message>
    <message>
        <source>it is there already</source>
        <translation>文件已存在</translation>
    </message>
</context>
<context>
    <name>telltale::shell::ViewFactory</name>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>Heatmap</source>
        <translation>热力图</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Anomalies</source>
        <translation>异常</translation>
    </message>
    <message>
        <source>Rule lab</source>
        <translation>规则实验室</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>Distributions</source>
        <translation>分布</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Structure</source>
        <translation>结构</translation>
    </message>
</context>
<context>
    <name>telltale::shell::ViewTabs</name>
    <message>
        <source>Views</source>
        <translation>视图</translation>
    </message>
    <message numerus="yes">
        <source>%n incidents that nobody has acknowledged</source>
        <translation>
            <numerusform>%n 个尚无人知悉的异常事件</numerusform>
        </translation>
    </message>
    <message>
        <source>More views</source>
        <translation>更多视图</translation>
    </message>
</context>
<context>
    <name>telltale::shell::WelcomePage</name>
    <message>
        <source>Nothing is recorded yet</source>
        <translation>还没有任何记录</translation>
    </message>
    <message>
        <source>Telltale shows every module, rank and step of a training run while it runs, and names the first wrong one.</source>
        <translation>Telltale 在训练进行时展示每个模块、rank 和步，并指出最先出错的那一个。</translation>
    </message>
    <message>
        <source>You can also drop a run anywhere in this window.</source>
        <translation>也可以把运行文件拖到窗口任意位置。</translation>
    </message>
    <message>
        <source>Run the demo</source>
        <translation>运行演示</translation>
    </message>
    <message>
        <source>4 layers, 4 heads, every module monitored</source>
        <translation>4 层、4 头，监控每个模块</translation>
    </message>
    <message>
        <source>every gradient and activation, live</source>
        <translation>实时查看每个梯度和激活</translation>
    </message>
    <message>
        <source>kept as a run of its own</source>
        <translation>作为独立的运行保存</translation>
    </message>
    <message>
        <source>Run the demo (Ctrl+D)</source>
        <translation>运行演示 (Ctrl+D)</translation>
    </message>
    <message>
        <source>Connect a training job</source>
        <translation>接入训练任务</translation>
    </message>
    <message>
        <source>Put the join string into the environment of every rank, then add a few lines to the training program.</source>
        <translation>把接入串放入每个 rank 的环境变量，再在训练程序中加几行代码。</translation>
    </message>
    <message>
        <source>Join string</source>
        <translation>接入串</translation>
    </message>
    <message>
        <source>Set it as TELLTALE_JOIN. Copying takes the whole token.</source>
        <translation>设为 TELLTALE_JOIN。复制时包含完整令牌。</translation>
    </message>
    <message>
        <source>Copy these lines</source>
        <translation>复制这些代码</translation>
    </message>
    <message>
        <source>Archived runs open at once, whatever their size, also from a folder that cannot be written.</source>
        <translation>归档的运行无论多大都能立即打开，只读文件夹中的也可以。</translation>
    </message>
    <message>
        <source>one file a run, .telltale</source>
        <translation>每个运行一个文件，.telltale</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Open a run (Ctrl+O)</source>
        <translation>打开运行 (Ctrl+O)</translation>
    </message>
    <message>
        <source>Listening. The run opens by itself when the first rank connects.</source>
        <translation>正在监听。第一个 rank 连接后运行会自动打开。</translation>
    </message>
    <message>
        <source>Open or import a run</source>
        <translation>打开或导入运行</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Keep a copy of a run here (Ctrl+I)</source>
        <translation>在此保留一份副本 (Ctrl+I)</translation>
    </message>
    <message>
        <source>A small GPT trains on this machine; every module is recorded.</source>
        <translation>在本机训练一个小型 GPT，记录每个模块。</translation>
    </message>
    <message>
        <source>The same training, in which one value becomes NaN: find where</source>
        <translation>同样的训练，但有一个值变成 NaN：找出在哪里</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>C++</source>
        <translation>C++</translation>
    </message>
    <message>
        <source>msprobe config</source>
        <translation>msprobe 配置</translation>
    </message>
    <message>
        <source>Ways to connect</source>
        <translation>连接方式</translation>
    </message>
    <message>
        <source>The demo is starting</source>
        <translation>演示正在启动</translation>
    </message>
    <message>
        <source>Its run opens here by itself with the first step, in a few seconds.</source>
        <translation>几秒后，第一步到达时，其运行会自动在此打开。</translation>
    </message>
    <message>
        <source>With a fault</source>
        <translation>带故障的演示</translation>
    </message>
    <message>
        <source>msprobe CSV or SQLite</source>
        <translation>msprobe 的 CSV 或 SQLite</translation>
    </message>
    <message>
        <source>TensorBoard event files</source>
        <translation>TensorBoard 事件文件</translation>
    </message>
</context>
<context>
    <name>telltale::views</name>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>every %1nd step</source>
        <translation>每 %1 步</translation>
    </message>
    <message>
        <source>every %1th step</source>
        <translation>每 %1 步</translation>
    </message>
</context>
<context>
    <name>telltale::views::AllKinds</name>
    <message>
        <source>All kinds of this module</source>
        <translation>此模块的所有类别</translation>
    </message>
    <message>
        <source>A click shows this kind everywhere.</source>
        <translation>点击后，各处都显示此类别。</translation>
    </message>
    <message>
        <source>%1 of everything collected</source>
        <translation>所有已采集数据的%1</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <comment>a value, and its step</comment>
        <translation>%1（第 %2 步）</translation>
    </message>
    <message>
        <source>%1 of everything collected: nothing at step %2</source>
        <translation>所有已采集数据的%1：第 %2 步没有数据</translation>
    </message>
    <message>
        <source>%1 of everything collected: this run has no step %2</source>
        <translation>所有已采集数据的%1：此运行没有第 %2 步</translation>
    </message>
    <message>
        <source> (%1)</source>
        <comment>a statistic</comment>
        <translation>（%1）</translation>
    </message>
    <message>
        <source>%1 of everything collected, at step %2</source>
        <translation>所有已采集数据的%1，第 %2 步</translation>
    </message>
</context>
<context>
    <name>telltale::views::Annotator</name>
    <message>
        <source>No run is open.</source>
        <translation>没有打开的运行。</translation>
    </message>
    <message>
        <source>Another Telltale writes the runs of this folder: say it there.</source>
        <translation>此文件夹中的运行由另一个 Telltale 写入：请在那里操作。</translation>
    </message>
    <message>
        <source>This file is not among the runs of this Telltale: import it to write into it.</source>
        <translation>此文件不在本 Telltale 的运行之中：导入后才能写入。</translation>
    </message>
    <message>
        <source>The store has no room for this now; try again in a moment.</source>
        <translation>存储暂时没有空间接收，请稍后再试。</translation>
    </message>
    <message>
        <source>the window</source>
        <translation>本窗口</translation>
    </message>
</context>
<context>
    <name>telltale::views::AnomaliesPanel</name>
    <message>
        <source>Lanes</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>by module block</source>
        <translation>按模块分组</translation>
    </message>
    <message>
        <source>by rank</source>
        <translation>按 rank</translation>
    </message>
    <message>
        <source>Anomaly timeline</source>
        <translation>异常时间线</translation>
    </message>
</context>
<context>
    <name>telltale::views::AnomaliesView</name>
    <message>
        <source>Severity</source>
        <translation>严重程度</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>warning and critical</source>
        <translation>警告与严重</translation>
    </message>
    <message>
        <source>critical</source>
        <translation>严重</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>not acknowledged</source>
        <translation>未知悉</translation>
    </message>
    <message numerus="yes">
        <source>%n incidents</source>
        <translation>
            <numerusform>%n 个异常事件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n incidents</source>
        <translation>
            <numerusform>%n 个异常事件中的 %1 个</numerusform>
        </translation>
    </message>
    <message>
        <source>%1.</source>
        <comment>a sentence</comment>
        <translation>%1。</translation>
    </message>
    <message>
        <source>anomalies</source>
        <translation>异常</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>以及另外 %n 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::AnswersModel</name>
    <message>
        <source>offered</source>
        <translation>已下发</translation>
    </message>
    <message>
        <source>waits for its step</source>
        <translation>等待生效步</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>已拒绝</translation>
    </message>
    <message>
        <source>applied</source>
        <translation>已生效</translation>
    </message>
    <message>
        <source>away</source>
        <translation>已离线</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>rev %1</source>
        <translation>修订 %1</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>答复</translation>
    </message>
    <message>
        <source>At step</source>
        <translation>起始步</translation>
    </message>
    <message>
        <source>Took</source>
        <translation>耗时</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>its own config</source>
        <translation>自身配置</translation>
    </message>
    <message>
        <source>The config of the training itself: no revision of this run&apos;s history is in force</source>
        <translation>训练自身的配置：此运行历史中没有任何修订在生效</translation>
    </message>
</context>
<context>
    <name>telltale::views::AnswersTable</name>
    <message>
        <source>Answers of the ranks</source>
        <translation>各 rank 的答复</translation>
    </message>
</context>
<context>
    <name>telltale::views::ApplyBox</name>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>as soon as all can</source>
        <translation>各 rank 就绪后尽快</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>At step</source>
        <translation>起始步</translation>
    </message>
    <message>
        <source>newest step + %1</source>
        <translation>最新步 + %1</translation>
    </message>
    <message>
        <source>the newest step is %1</source>
        <translation>最新步为 %1</translation>
    </message>
    <message>
        <source>Apply rev %1</source>
        <translation>应用修订 %1</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionCanvas</name>
    <message>
        <source>entropy under half of what it was %1 steps ago</source>
        <translation>熵已低于 %1 步前的一半</translation>
    </message>
    <message>
        <source>looks at one key alone</source>
        <translation>只关注一个键</translation>
    </message>
    <message>
        <source>looks at all keys alike</source>
        <translation>均匀关注所有键</translation>
    </message>
    <message>
        <source>%1 head %2</source>
        <translation>%1 头 %2</translation>
    </message>
    <message>
        <source>step %1, rank %2</source>
        <translation>第 %1 步，rank %2</translation>
    </message>
    <message>
        <source>, key head %1</source>
        <translation>，键头 %1</translation>
    </message>
    <message>
        <source>Telltale: every head, mean over its queries</source>
        <translation>Telltale：每个头，对其 query 取平均</translation>
    </message>
    <message>
        <source>Telltale: every head, %1</source>
        <comment>a definition in the agent&apos;s words</comment>
        <translation>Telltale：每个头，%1</translation>
    </message>
    <message>
        <source>  ·  %1 heads on %2 key heads</source>
        <translation>  ·  %1 个头共用 %2 个键头</translation>
    </message>
    <message>
        <source>  ·  msprobe: head 0 of the first sequence, causal, all queries: entropy %1 in %2</source>
        <translation>  ·  msprobe：首个序列的头 0，因果，全部 query：%2 的熵为 %1</translation>
    </message>
    <message numerus="yes">
        <source>step %1, %n ranks</source>
        <translation>
            <numerusform>第 %1 步，%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>, entropy %1 steps ago %2</source>
        <translation>，%1 步前的熵 %2</translation>
    </message>
    <message>
        <source>At step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>  ·  %1</source>
        <translation>  ·  %1</translation>
    </message>
    <message>
        <source>spread of %1</source>
        <translation>%1 的极差</translation>
    </message>
    <message numerus="yes">
        <source>mean of %n micro steps</source>
        <translation>
            <numerusform>%n 个微步的均值</numerusform>
        </translation>
    </message>
    <message>
        <source>  ·  max logit: the largest over these queries</source>
        <translation>  ·  最大 logit：这些 query 中的最大值</translation>
    </message>
    <message>
        <source>entropy fell by over 30 % in %1 steps</source>
        <translation>熵在 %1 步内下降超过 30 %</translation>
    </message>
    <message>
        <source>, entropy %1, %2 steps ago %3</source>
        <translation>，熵 %1，%2 步前 %3</translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionMap</name>
    <message>
        <source>nats</source>
        <translation>nat</translation>
    </message>
    <message>
        <source>, ln n = %1</source>
        <translation>，ln n = %1</translation>
    </message>
    <message>
        <source>of what n keys can have</source>
        <translation>占 n 个键所能达到的份额</translation>
    </message>
    <message>
        <source>one-hot = 1</source>
        <translation>独热 = 1</translation>
    </message>
    <message>
        <source>before the softmax</source>
        <translation>softmax 之前</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>层</translation>
    </message>
    <message numerus="yes">
        <source>largest less smallest of %n ranks</source>
        <translation>
            <numerusform>%n 个 rank 中最大与最小之差</numerusform>
        </translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>head</source>
        <translation>头</translation>
    </message>
    <message>
        <source>heads by %1, the lowest first</source>
        <translation>头按%1从低到高</translation>
    </message>
    <message>
        <source>heads by %1</source>
        <translation>头按%1</translation>
    </message>
    <message>
        <source>spread of %1</source>
        <translation>%1 的极差</translation>
    </message>
    <message>
        <source>heads by %1, the highest first</source>
        <translation>头按%1从高到低</translation>
    </message>
</context>
<context>
    <name>telltale::views::AttentionView</name>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>left</source>
        <translation>左</translation>
    </message>
    <message>
        <source>right</source>
        <translation>右</translation>
    </message>
    <message>
        <source>Curves of heads, %1</source>
        <translation>各头的曲线，%1</translation>
    </message>
    <message>
        <source>Heads of a layer, %1</source>
        <translation>某层的各头，%1</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>头</translation>
    </message>
    <message>
        <source>by number</source>
        <translation>按编号</translation>
    </message>
    <message>
        <source>by value</source>
        <translation>按值</translation>
    </message>
    <message>
        <source>Below</source>
        <translation>下方</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its attention heads here.</source>
        <translation>打开一个运行或连接训练任务，即可在此查看其注意力头。</translation>
    </message>
    <message>
        <source>No attention module matches the filter “%1”.</source>
        <translation>没有注意力模块符合筛选“%1”。</translation>
    </message>
    <message>
        <source>There is no attention on rank %1.</source>
        <translation>rank %1 上没有注意力。</translation>
    </message>
    <message>
        <source>Axes</source>
        <translation>坐标轴</translation>
    </message>
    <message>
        <source>layer × head</source>
        <translation>层 × 头</translation>
    </message>
    <message>
        <source>rank × head</source>
        <translation>rank × 头</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>spread of all</source>
        <translation>各 rank 的差距</translation>
    </message>
    <message>
        <source>This run has no attention statistics: its model has no attention module that is known, or telltale.attention_hook is not true in its config.</source>
        <translation>此运行没有注意力统计量：其模型没有已知的注意力模块，或者其配置中 telltale.attention_hook 不是 true。</translation>
    </message>
    <message numerus="yes">
        <source>%n selected heads</source>
        <translation>
            <numerusform>所选的 %n 个头</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>the %n heads that differ most between ranks</source>
        <translation>
            <numerusform>各 rank 间差异最大的 %n 个头</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n heads</source>
        <translation>
            <numerusform>%n 个头</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>the %n heads of lowest entropy</source>
        <translation>
            <numerusform>熵最低的 %n 个头</numerusform>
        </translation>
    </message>
    <message>
        <source>curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>strips</source>
        <translation>色带</translation>
    </message>
    <message>
        <source>maps</source>
        <translation>注意力图</translation>
    </message>
    <message>
        <source>Left map</source>
        <translation>左图</translation>
    </message>
    <message>
        <source>Right map</source>
        <translation>右图</translation>
    </message>
    <message numerus="yes">
        <source>all %n heads</source>
        <translation>
            <numerusform>全部 %n 个头</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::CalmWords</name>
    <message>
        <source>Nothing is wrong up to step %1</source>
        <translation>到第 %1 步为止一切正常</translation>
    </message>
    <message numerus="yes">
        <source>%1 rules looked at %2 tensors and scalars of %n ranks.</source>
        <translation>
            <numerusform>%1 条规则检查了 %n 个 rank 的 %2 个张量和标量。</numerusform>
        </translation>
    </message>
    <message>
        <source>Steps %1 were not judged.</source>
        <translation>第 %1 步未经判断。</translation>
    </message>
    <message>
        <source>No run is shown</source>
        <translation>没有显示任何运行</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see what goes wrong in it.</source>
        <translation>打开一个运行或连接一个训练任务，以查看其中出了什么问题。</translation>
    </message>
    <message>
        <source>Nothing was measured yet</source>
        <translation>尚无测量数据</translation>
    </message>
    <message>
        <source>Nothing has been judged yet</source>
        <translation>尚未判断任何内容</translation>
    </message>
    <message>
        <source>Nobody has judged this run</source>
        <translation>此运行未经判断</translation>
    </message>
    <message>
        <source>A run is judged while it is recorded. This one came here in another way, or was recorded by an older Telltale: “telltale judge” says what is wrong with it.</source>
        <translation>运行在记录时被判断。此运行以其他方式而来，或由较旧的 Telltale 记录：“telltale judge”可说明其中的问题。</translation>
    </message>
    <message>
        <source>Nothing is wrong in what can be read</source>
        <translation>可读部分中没有问题</translation>
    </message>
    <message>
        <source>No incident can be read</source>
        <translation>读不到任何异常事件</translation>
    </message>
    <message>
        <source>This run&apos;s file is damaged, and an incident may be among what is lost: %1</source>
        <translation>此运行的文件已损坏，丢失的内容中可能有异常事件：%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::ChangeLines</name>
    <message>
        <source>Changes</source>
        <translation>差异</translation>
    </message>
</context>
<context>
    <name>telltale::views::ChangesTree</name>
    <message>
        <source>Incidents that appear or vanish</source>
        <translation>新增或消失的事件</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>规则</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>另有 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>appears</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>vanishes</source>
        <translation>消失</translation>
    </message>
    <message>
        <source>The rules that are tried find the same as those in force.</source>
        <translation>试验规则与生效规则的结果相同。</translation>
    </message>
</context>
<context>
    <name>telltale::views::CommLane</name>
    <message>
        <source>The agent of this run records no times of collectives at this step.</source>
        <translation>此运行的代理在这一步没有记录集合通信的时间。</translation>
    </message>
    <message>
        <source>ms in step %1</source>
        <translation>第 %1 步内的时间，ms</translation>
    </message>
    <message>
        <source>from %1 ms to %2 ms</source>
        <translation>%1 ms 至 %2 ms</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message numerus="yes">
        <source>in %n calls</source>
        <translation>
            <numerusform>共 %n 次调用</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of that time</source>
        <translation>占该时段的 %1</translation>
    </message>
    <message>
        <source>from the first call to the end of the last</source>
        <translation>从首次调用到最后一次调用结束</translation>
    </message>
    <message>
        <source>the part of it in calls, in %</source>
        <translation>其中处于调用中的部分，以 % 标出</translation>
    </message>
    <message>
        <source>the part of it in calls</source>
        <translation>其中处于调用中的部分</translation>
    </message>
</context>
<context>
    <name>telltale::views::CommModel</name>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>the process group, and how many ranks are in it</source>
        <translation>进程组，以及其中有多少个 rank</translation>
    </message>
    <message>
        <source>of all tensors that the calls of this step handed over, sent and received ones</source>
        <translation>这一步各次调用交出的所有张量，包括发送和接收的</translation>
    </message>
    <message>
        <source>on the host&apos;s clock, from the call until the caller had waited for the result, whatever it did in between; on a device the wait is over when it is queued, not when the data have come</source>
        <translation>按主机时钟，从调用到调用方等到结果为止，其间所做的其他事也算在内；在设备上，等待入队即告结束，并不是数据到达之时</translation>
    </message>
    <message>
        <source>over all calls of the step: the sum of norms, the mean of means, the smallest and the largest value</source>
        <translation>针对这一步的所有调用：范数之和、均值的平均、最小值与最大值</translation>
    </message>
    <message>
        <source>Operation</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>Call site</source>
        <translation>调用位置</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>进程组</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Calls</source>
        <translation>次数</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Before: %1</source>
        <translation>调用前：%1</translation>
    </message>
    <message>
        <source>After: %1</source>
        <translation>调用后：%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::CommunicationView</name>
    <message>
        <source>collectives by call site</source>
        <translation>按调用位置的集合通信</translation>
    </message>
    <message>
        <source>Collect collectives from now on</source>
        <translation>从现在起采集集合通信</translation>
    </message>
    <message>
        <source>Collectives by call site</source>
        <translation>按调用位置的集合通信</translation>
    </message>
    <message>
        <source>Collectives in the step</source>
        <translation>这一步内的集合通信</translation>
    </message>
    <message>
        <source>Collectives over the steps</source>
        <translation>集合通信随步变化</translation>
    </message>
    <message>
        <source>Call stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Statistic</source>
        <translation>统计量</translation>
    </message>
    <message>
        <source>Below</source>
        <translation>下方</translation>
    </message>
    <message>
        <source>times in the step</source>
        <translation>步内时间</translation>
    </message>
    <message>
        <source>time over steps</source>
        <translation>时间随步变化</translation>
    </message>
    <message>
        <source>bytes over steps</source>
        <translation>字节随步变化</translation>
    </message>
    <message>
        <source>calls over steps</source>
        <translation>次数随步变化</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its collectives here.</source>
        <translation>打开一个运行，或连接一个训练任务，即可在此查看其集合通信。</translation>
    </message>
    <message>
        <source>The ranks have been asked to collect their collectives; they appear with the next steps.</source>
        <translation>已请各 rank 采集集合通信，随后的步中就会出现。</translation>
    </message>
    <message>
        <source>No call site matches the filter “%1”.</source>
        <translation>没有调用位置与筛选“%1”匹配。</translation>
    </message>
    <message>
        <source>Rank %1 records no collectives.</source>
        <translation>rank %1 没有记录集合通信。</translation>
    </message>
    <message>
        <source>Copied %1</source>
        <translation>已复制 %1</translation>
    </message>
    <message>
        <source>The agent of this run records no such figures of its collectives.</source>
        <translation>此运行的代理没有记录集合通信的这类数字。</translation>
    </message>
    <message>
        <source>at step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>In the step</source>
        <translation>步内时间</translation>
    </message>
    <message>
        <source>Stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>This run records no collectives; cc_distribution.enable in its config turns them on.</source>
        <translation>此运行没有记录集合通信；在其配置中打开 cc_distribution.enable 即可记录。</translation>
    </message>
    <message>
        <source>Over the steps</source>
        <translation>随步变化</translation>
    </message>
    <message>
        <source>Stack of %1</source>
        <translation>%1 的调用栈</translation>
    </message>
    <message>
        <source>The innermost first; a click copies file:line</source>
        <translation>最内层在前；点击复制 文件:行号</translation>
    </message>
    <message>
        <source>The agent of this run told no stack.</source>
        <translation>此运行的代理没有提供调用栈。</translation>
    </message>
    <message>
        <source>Choose a call site to see the stack it is called from.</source>
        <translation>选择一个调用位置以查看其调用栈。</translation>
    </message>
    <message>
        <source>until its end</source>
        <comment>of a step</comment>
        <translation>到该步结束为止</translation>
    </message>
    <message>
        <source>No collectives recorded: cc_distribution.enable was off, or only DDP&apos;s own ran.</source>
        <translation>没有记录集合通信：cc_distribution.enable 未开启，或只有 DDP 自身的。</translation>
    </message>
    <message>
        <source>No collectives recorded: cc_distribution.enable was off in the config of this run.</source>
        <translation>没有记录集合通信：此运行的配置未开启 cc_distribution.enable。</translation>
    </message>
    <message>
        <source>Collectives were collected, and none was called: this run has one rank.</source>
        <translation>已开启集合通信采集，但没有调用：本次运行只有一个 rank。</translation>
    </message>
    <message>
        <source>Collectives are collected, and none was called so far. Those inside DDP cannot be seen.</source>
        <translation>已开启集合通信采集，目前还没有调用。DDP 内部的调用无法看到。</translation>
    </message>
    <message>
        <source>Collectives were collected, and none was called. Those inside DDP cannot be seen.</source>
        <translation>已开启集合通信采集，但没有调用。DDP 内部的调用无法看到。</translation>
    </message>
</context>
<context>
    <name>telltale::views::CompareBar</name>
    <message>
        <source>Aligned by</source>
        <translation>对齐方式</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Tolerance</source>
        <translation>容差</translation>
    </message>
    <message>
        <source>Two values are equal that differ by no more than this share of the larger one</source>
        <translation>两个值之差不超过较大者的这一比例时，视为相同</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>完全相同</translation>
    </message>
    <message>
        <source>Choose the runs to compare with</source>
        <translation>选择用来对比的运行</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>difference</source>
        <translation>差值</translation>
    </message>
    <message>
        <source>ratio</source>
        <translation>比值</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Statistic</source>
        <translation>统计量</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>model order</source>
        <translation>模型顺序</translation>
    </message>
    <message>
        <source>by value</source>
        <translation>按值</translation>
    </message>
    <message>
        <source>similar rows together</source>
        <translation>相似的行相邻</translation>
    </message>
    <message>
        <source>Below</source>
        <translation>下方</translation>
    </message>
    <message>
        <source>curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>band of all runs</source>
        <translation>所有运行的区间</translation>
    </message>
    <message>
        <source>what differs first</source>
        <translation>最先不同之处</translation>
    </message>
    <message>
        <source>configs that differ</source>
        <translation>不同的配置</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>A: %1</source>
        <translation>A：%1</translation>
    </message>
    <message>
        <source>Choose runs</source>
        <translation>选择运行</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>B: %1</source>
        <translation>B：%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::CompareView</name>
    <message>
        <source>Differences between two runs</source>
        <translation>两次运行之间的差异</translation>
    </message>
    <message>
        <source>Curves of the compared runs</source>
        <translation>所对比运行的曲线</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to compare it with others.</source>
        <translation>打开一个运行或连接训练任务，即可与其他运行对比。</translation>
    </message>
    <message>
        <source>No module that both runs have matches the filter “%1”.</source>
        <translation>两个运行共有的模块中没有匹配筛选“%1”的。</translation>
    </message>
    <message>
        <source>not recorded by %1: aligned by step</source>
        <translation>%1 没有记录此量：按步对齐</translation>
    </message>
    <message numerus="yes">
        <source>%n rows only in A</source>
        <translation>
            <numerusform>%n 行仅 A 有</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rows only in B</source>
        <translation>
            <numerusform>%n 行仅 B 有</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, A: %2, B: %3</source>
        <translation>%1，A：%2，B：%3</translation>
    </message>
    <message>
        <source>The runs have no “%1” of the same modules on rank %2. Choose another kind, or other runs.</source>
        <translation>这些运行在 rank %2 上没有相同模块的“%1”。请选择其他类别或其他运行。</translation>
    </message>
    <message>
        <source>Select a module to see its curves.</source>
        <translation>选择一个模块以查看其曲线。</translation>
    </message>
    <message>
        <source>not recorded by %1: left out</source>
        <translation>%1 没有记录此量：未列入</translation>
    </message>
    <message>
        <source>Configs, hyperparameters and environments are the same.</source>
        <translation>配置、超参数和环境均相同。</translation>
    </message>
    <message>
        <source>%1 has none of these curves</source>
        <translation>%1 没有这些曲线</translation>
    </message>
    <message>
        <source>What is selected has no “%1” on rank %2.</source>
        <translation>所选内容在 rank %2 上没有“%1”。</translation>
    </message>
    <message>
        <source>The runs are still being compared.</source>
        <translation>仍在对比这些运行。</translation>
    </message>
    <message>
        <source>%1 have none of these curves</source>
        <translation>%1 没有这些曲线</translation>
    </message>
    <message>
        <source>%1 does not record what the runs are aligned by. Align them by step, or choose another run.</source>
        <translation>%1 没有记录对齐所用的量。请按步对齐，或选择其他运行。</translation>
    </message>
    <message>
        <source>There is no other run to compare “%1” with.</source>
        <translation>没有可与“%1”对比的其他运行。</translation>
    </message>
    <message numerus="yes">
        <source>Press “Choose runs” to compare up to %n others with “%1”.</source>
        <translation>
            <numerusform>点击“选择运行”，最多选 %n 个其他运行与“%1”对比。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigDraft</name>
    <message>
        <source>%1 is left to the training: its own config file alone changes it</source>
        <translation>%1 由训练自己决定：只有它自己的配置文件可以更改</translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigForm</name>
    <message numerus="yes">
        <source>%n field(s)</source>
        <translation>
            <numerusform>%n 个字段</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n field(s), %1 shown</source>
        <translation>
            <numerusform>%n 个字段，显示 %1 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigReference</name>
    <message>
        <source>one of %1</source>
        <translation>%1 之一</translation>
    </message>
    <message>
        <source>%1 from %2 to %3</source>
        <comment>a number from 0 to 1</comment>
        <translation>%2 到 %3 的%1</translation>
    </message>
    <message>
        <source>, or </source>
        <comment>between what a value may be</comment>
        <translation>，或</translation>
    </message>
    <message>
        <source>, or null</source>
        <translation>，或 null</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true 或 false</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>数</translation>
    </message>
    <message>
        <source>a list, each %1</source>
        <translation>列表，每项为 %1</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>对象</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>When</source>
        <translation>采集时机</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>采集范围</translation>
    </message>
    <message>
        <source>What</source>
        <translation>采集内容</translation>
    </message>
    <message>
        <source>Deeper analyses</source>
        <translation>深入分析</translation>
    </message>
    <message>
        <source>Communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>告警</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>What a training collects. Every field may be left out. Comments (`//`) and trailing commas are accepted. What cannot be read is said with its place and what is allowed there; at the start of a training the field&apos;s default takes its place, later the config in force stays.</source>
        <translation>一次训练采集什么。每个字段都可以不写。允许注释（`//`）和结尾的逗号。读不懂的内容会连同位置和允许的取值一起说明；训练开始时由该字段的默认值代替，之后则保留正在生效的配置。</translation>
    </message>
    <message>
        <source>%1; default %2.</source>
        <comment>what a field may hold; its default</comment>
        <translation>%1；默认为 %2。</translation>
    </message>
    <message>
        <source>Only the training&apos;s own file can change it.</source>
        <translation>只有训练自己的配置文件可以更改它。</translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigTemplate</name>
    <message>
        <source>Loss rises, gradient norm normal: the forward pass</source>
        <translation>损失上升而梯度范数正常：查看前向</translation>
    </message>
    <message>
        <source>Gradient norm abnormal: weights and activation gradients</source>
        <translation>梯度范数异常：权重与激活梯度</translation>
    </message>
    <message>
        <source>Attention suspicious: entropy of every head</source>
        <translation>注意力可疑：每个头的熵</translation>
    </message>
    <message>
        <source>Only what costs nothing: the training&apos;s own metrics</source>
        <translation>零开销：只采集训练自身的指标</translation>
    </message>
    <message>
        <source>Forward pass</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>Weights, gradients</source>
        <translation>权重与梯度</translation>
    </message>
    <message>
        <source>Attention entropy</source>
        <translation>注意力熵</translation>
    </message>
    <message>
        <source>Metrics alone</source>
        <translation>仅指标</translation>
    </message>
</context>
<context>
    <name>telltale::views::ConfigView</name>
    <message>
        <source>Config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Template</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>Only fields that are set</source>
        <translation>仅显示已设置的字段</translation>
    </message>
    <message>
        <source>Open a config.json</source>
        <translation>打开 config.json</translation>
    </message>
    <message>
        <source>Save as</source>
        <translation>另存为</translation>
    </message>
    <message>
        <source>Changes against what runs</source>
        <translation>与运行中配置的差异</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Fields</source>
        <translation>字段</translation>
    </message>
    <message>
        <source>JSON</source>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Answers of the ranks</source>
        <translation>各 rank 的答复</translation>
    </message>
    <message numerus="yes">
        <source>Fix %n error(s) first.</source>
        <translation>
            <numerusform>请先修正 %n 处错误。</numerusform>
        </translation>
    </message>
    <message>
        <source>This run is not being recorded here: nobody would answer.</source>
        <translation>此运行不在此处记录：不会有答复。</translation>
    </message>
    <message>
        <source>Without a run the draft can be saved as a file.</source>
        <translation>没有运行时，草稿可以保存为文件。</translation>
    </message>
    <message>
        <source>Ranks are numbers, such as 0, 1.</source>
        <translation>rank 是数字，例如 0, 1。</translation>
    </message>
    <message>
        <source>Rank %1 does not exist.</source>
        <translation>rank %1 不存在。</translation>
    </message>
    <message>
        <source>A step is a whole number.</source>
        <translation>步必须是整数。</translation>
    </message>
    <message>
        <source>The draft is what runs.</source>
        <translation>草稿与正在运行的配置相同。</translation>
    </message>
    <message>
        <source>rev %1 on %2 of %3 ranks</source>
        <translation>修订 %1：%3 个 rank 中 %2 个已生效</translation>
    </message>
    <message numerus="yes">
        <source>draft: %n change(s)</source>
        <translation>
            <numerusform>草稿：%n 处改动</numerusform>
        </translation>
    </message>
    <message>
        <source>no changes</source>
        <translation>无改动</translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n 处错误</numerusform>
        </translation>
    </message>
    <message>
        <source>Answers to rev %1</source>
        <translation>对修订 %1 的答复</translation>
    </message>
    <message>
        <source>Cannot read %1: %2</source>
        <translation>无法读取 %1：%2</translation>
    </message>
    <message>
        <source>%1 is too large for a config.</source>
        <translation>%1 太大，不是配置文件。</translation>
    </message>
    <message>
        <source>Cannot write %1: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>Config (*.json)</source>
        <translation>配置 (*.json)</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Open...</source>
        <translation>打开...</translation>
    </message>
    <message>
        <source>Save as...</source>
        <translation>另存为...</translation>
    </message>
    <message>
        <source>Revert draft</source>
        <translation>还原草稿</translation>
    </message>
    <message>
        <source>Estimated cost</source>
        <translation>估计开销</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <translation>复制文本</translation>
    </message>
    <message>
        <source>No rank has answered a config yet.</source>
        <translation>还没有 rank 答复过配置。</translation>
    </message>
    <message>
        <source>No config has been applied yet.</source>
        <translation>尚未应用任何配置。</translation>
    </message>
    <message numerus="yes">
        <source>%n revision(s)</source>
        <translation>
            <numerusform>%n 个修订</numerusform>
        </translation>
    </message>
    <message>
        <source>Changes against rev %1</source>
        <translation>与修订 %1 的差异</translation>
    </message>
    <message>
        <source>what runs now</source>
        <translation>当前生效</translation>
    </message>
    <message>
        <source>Drop all changes of the draft</source>
        <translation>放弃草稿的所有改动</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>This run has ended: the draft is the config that it had last, and nothing can be applied.</source>
        <translation>此运行已结束：草稿是其最后的配置，无法再应用。</translation>
    </message>
    <message>
        <source>This run has ended: nothing can be applied, but the draft can be saved as a file.</source>
        <translation>此运行已结束：无法再应用，但可将草稿保存为文件。</translation>
    </message>
    <message>
        <source>Nothing: the draft is what runs.</source>
        <translation>无：草稿与正在运行的配置相同。</translation>
    </message>
    <message>
        <source>Nothing: every field has its default.</source>
        <translation>无：所有字段均为默认值。</translation>
    </message>
    <message>
        <source>Changes against the last config</source>
        <translation>与最后配置的差异</translation>
    </message>
    <message>
        <source>Changes against the defaults</source>
        <translation>与默认值的差异</translation>
    </message>
    <message>
        <source>what ran last</source>
        <translation>最后生效</translation>
    </message>
    <message>
        <source>not valid yet</source>
        <translation>草稿值无效</translation>
    </message>
    <message>
        <source>Nothing yet: what was written is not valid.</source>
        <translation>尚无：所写内容无效。</translation>
    </message>
    <message>
        <source>Template...</source>
        <translation>模板...</translation>
    </message>
    <message>
        <source>The text cannot be read: the fields show what it held when it could be.</source>
        <translation>文本无法读取：字段显示其最近一次可读时的值。</translation>
    </message>
    <message numerus="yes">
        <source>%1 (%n more, F8 shows the next)</source>
        <translation>
            <numerusform>%1（另有 %n 处，F8 跳到下一处）</numerusform>
        </translation>
    </message>
    <message>
        <source>No rank answered a config.</source>
        <translation>没有 rank 答复过配置。</translation>
    </message>
    <message>
        <source>No config was applied.</source>
        <translation>没有应用过配置。</translation>
    </message>
    <message>
        <source>the file keeps its comments</source>
        <translation>文件保留其注释</translation>
    </message>
    <message>
        <source>No rank is connected: the draft is what they ran last.</source>
        <translation>没有 rank 连接：草稿与它们最后运行的配置相同。</translation>
    </message>
    <message>
        <source>no rank connected</source>
        <translation>没有 rank 连接</translation>
    </message>
    <message>
        <source>Changes against what ran last</source>
        <translation>与最后运行的配置的差异</translation>
    </message>
    <message>
        <source>No rank is connected: who comes back is offered it.</source>
        <translation>没有 rank 连接：重新连接的 rank 会收到它。</translation>
    </message>
    <message>
        <source>Nothing: the draft is what the ranks ran last. None is connected.</source>
        <translation>无：草稿与各 rank 最后运行的配置相同。当前没有 rank 连接。</translation>
    </message>
    <message>
        <source>Nothing: the draft is the run&apos;s last config.</source>
        <translation>无：草稿与此运行最后的配置相同。</translation>
    </message>
    <message>
        <source>apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>next error</source>
        <translation>下一个错误</translation>
    </message>
    <message>
        <source>undo edit</source>
        <translation>撤销编辑</translation>
    </message>
</context>
<context>
    <name>telltale::views::ConnectionsPanel</name>
    <message>
        <source>Connections</source>
        <translation>连接</translation>
    </message>
    <message>
        <source>No agent has connected yet.</source>
        <translation>还没有代理连接。</translation>
    </message>
    <message>
        <source>Agents</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Set it as TELLTALE_JOIN in the environment of every rank. Copying takes the whole token.</source>
        <translation>在每个 rank 的环境中设为 TELLTALE_JOIN。复制时包含完整令牌。</translation>
    </message>
</context>
<context>
    <name>telltale::views::ConsolePane</name>
    <message>
        <source>Nothing is kept of what the training prints: telltale.capture_console() in its program keeps it.</source>
        <translation>没有保留训练打印的内容：在训练程序中调用 telltale.capture_console() 即可保留。</translation>
    </message>
    <message>
        <source>Part of a line</source>
        <translation>行中的文字</translation>
    </message>
    <message>
        <source>Search the console</source>
        <translation>搜索控制台</translation>
    </message>
    <message>
        <source>Console</source>
        <translation>控制台</translation>
    </message>
    <message>
        <source>Copy the selected lines, or all</source>
        <translation>复制所选行；未选则复制全部</translation>
    </message>
    <message numerus="yes">
        <source>%n lines</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n lines</source>
        <translation>
            <numerusform>%n 行中的 %1 行</numerusform>
        </translation>
    </message>
    <message>
        <source>rank %1, %2</source>
        <translation>rank %1，%2</translation>
    </message>
</context>
<context>
    <name>telltale::views::CostTable</name>
    <message>
        <source>An estimate, by the run&apos;s model and what was measured of it in the last seconds; time is of the rank where monitoring takes most</source>
        <translation>根据此运行的模型和最近几秒的实测估计；时间取监控耗时最多的 rank</translation>
    </message>
    <message>
        <source>now</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Series</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>步时间</translation>
    </message>
    <message>
        <source>at least %1</source>
        <translation>至少 %1</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/秒</translation>
    </message>
    <message>
        <source>Over the budget of %1: the agent will collect %2.</source>
        <translation>超出预算 %1：代理将采集 %2。</translation>
    </message>
    <message>
        <source>The draft stays inside the budget of %1 of step time.</source>
        <translation>草稿在步时间 %1 的预算之内。</translation>
    </message>
    <message>
        <source>last</source>
        <translation>最后配置</translation>
    </message>
    <message>
        <source>Fix the draft to see what it costs.</source>
        <translation>修正草稿后即可看到其开销。</translation>
    </message>
    <message>
        <source>Samples a collected step</source>
        <translation>每个采集步的样本</translation>
    </message>
    <message>
        <source>Stored, not yet compacted</source>
        <translation>存储，压缩前</translation>
    </message>
</context>
<context>
    <name>telltale::views::CurveCanvas</name>
    <message>
        <source>fp16 limit %1</source>
        <translation>fp16 上限 %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>last finite %1</source>
        <translation>最近有限值 %1</translation>
    </message>
    <message>
        <source>mean; %1 to %2</source>
        <translation>均值；%1 至 %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>Click: hide or show it (H). Ctrl+click: show it alone (I).</source>
        <translation>单击：隐藏或显示 (H)。Ctrl+单击：只显示它 (I)。</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>at step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>raw</source>
        <translation>原始值</translation>
    </message>
</context>
<context>
    <name>telltale::views::CurvesView</name>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>y</source>
        <translation>y</translation>
    </message>
    <message>
        <source>linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>symlog</source>
        <translation>对称对数</translation>
    </message>
    <message>
        <source>Smooth</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see curves here.</source>
        <translation>打开运行或接入训练任务后，这里显示曲线。</translation>
    </message>
    <message>
        <source>Select modules in the tree, or brush over rows of the heat map, to see their curves.</source>
        <translation>在模块树中选择模块，或在热力图中框选若干行，即可查看曲线。</translation>
    </message>
    <message>
        <source>The selected modules have no %1 on rank %2.</source>
        <translation>所选模块在 rank %2 上没有“%1”。</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Draw the other ranks too</source>
        <translation>同时绘制其他 rank</translation>
    </message>
    <message>
        <source>smoothed %1, raw behind</source>
        <translation>平滑 %1，后方为原始曲线</translation>
    </message>
    <message>
        <source>x</source>
        <translation>x</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>, no %1 recorded</source>
        <translation>，未记录%1</translation>
    </message>
    <message>
        <source>This run records no %1: the axis shows steps.</source>
        <translation>此运行未记录 %1：坐标轴显示步。</translation>
    </message>
    <message>
        <source>, whose places are by step</source>
        <translation>，其位置按步数</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>%1 is a parameter: it has no %2. Select %3.</source>
        <translation>%1 是参数，没有%2。请选择 %3。</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n selected series</source>
        <translation>
            <numerusform>%1，已选 %n 条序列</numerusform>
        </translation>
    </message>
    <message>
        <source>What runs along the axis below</source>
        <translation>横轴的量</translation>
    </message>
    <message>
        <source>Scale of the values</source>
        <translation>数值的刻度</translation>
    </message>
    <message>
        <source>no %1: step</source>
        <comment>named left of an axis</comment>
        <translation>无%1：步</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 of %n selected series</source>
        <translation>
            <numerusform>%1，已选 %n 条序列中的 %2 条</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::DataView</name>
    <message>
        <source>Waiting for the first step of this run.</source>
        <translation>正在等待此运行的第一步。</translation>
    </message>
    <message>
        <source>No step of this run was recorded.</source>
        <translation>此运行没有记录任何步。</translation>
    </message>
</context>
<context>
    <name>telltale::views::DistributionCanvas</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>, rank %1</source>
        <translation>，rank %1</translation>
    </message>
    <message>
        <source>%1 of %2 elements</source>
        <translation>%2 个元素中有 %1 个</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <comment>the edges of a bin</comment>
        <translation>%1 至 %2</translation>
    </message>
</context>
<context>
    <name>telltale::views::DistributionView</name>
    <message>
        <source>Distributions</source>
        <translation>分布</translation>
    </message>
    <message>
        <source>Quantiles and losses</source>
        <translation>分位数与损失</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>As</source>
        <translation>形式</translation>
    </message>
    <message>
        <source>heat strip</source>
        <translation>热力条</translation>
    </message>
    <message>
        <source>ridges</source>
        <translation>山脊图</translation>
    </message>
    <message>
        <source>Color</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>share, log</source>
        <translation>占比（对数）</translation>
    </message>
    <message>
        <source>share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>count, log</source>
        <translation>数量（对数）</translation>
    </message>
    <message>
        <source>Below</source>
        <translation>下方</translation>
    </message>
    <message>
        <source>quantiles</source>
        <translation>分位数</translation>
    </message>
    <message>
        <source>flushed to zero</source>
        <translation>下溢为零</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>overflowed</source>
        <translation>上溢</translation>
    </message>
    <message>
        <source>What fp16, bf16 and fp8 would lose of the tensor is read from its log2 histogram.</source>
        <translation>fp16、bf16 和 fp8 会丢失张量中的多少，由其 log2 直方图得出。</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its distributions here.</source>
        <translation>打开一个运行或连接一个训练任务，即可在此查看其分布。</translation>
    </message>
    <message>
        <source>This run has no histograms. Name the kinds that are to have them in telltale.histogram of its config, or set ur_distribution to true.</source>
        <translation>此运行没有直方图。请在其配置的 telltale.histogram 中列出需要直方图的类别，或将 ur_distribution 设为 true。</translation>
    </message>
    <message>
        <source>No tensor with a histogram matches the filter “%1”.</source>
        <translation>没有带直方图的张量符合筛选“%1”。</translation>
    </message>
    <message>
        <source>There are no histograms of %1 on rank %2.</source>
        <translation>rank %2 上没有“%1”的直方图。</translation>
    </message>
    <message>
        <source>quantiles, to a bin</source>
        <translation>分位数，精确到一个区间</translation>
    </message>
    <message>
        <source>share of elements that the format would round to zero</source>
        <translation>会被该格式舍入为零的元素占比</translation>
    </message>
    <message>
        <source>share of elements that are certainly beyond the format&apos;s largest number</source>
        <translation>确定超出该格式最大数的元素占比</translation>
    </message>
    <message numerus="yes">
        <source>%n more selected</source>
        <comment>tensors that have no room</comment>
        <translation>
            <numerusform>另有 %n 个已选中</numerusform>
        </translation>
    </message>
    <message>
        <source>What formats lose can only be read from log2 histograms (telltale.histogram).</source>
        <translation>各格式的损失只能由 log2 直方图（telltale.histogram）得出。</translation>
    </message>
    <message>
        <source>histograms</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>what is selected has no histogram</source>
        <translation>所选内容没有直方图</translation>
    </message>
    <message numerus="yes">
        <source>%n elements</source>
        <translation>
            <numerusform>%n 个元素</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more match the filter</source>
        <comment>tensors that have no room</comment>
        <translation>
            <numerusform>另有 %n 个符合筛选</numerusform>
        </translation>
    </message>
    <message>
        <source>share of elements that the format would keep with fewer digits, as subnormal numbers</source>
        <translation>该格式会以较少位数（非规格化数）保留的元素占比</translation>
    </message>
</context>
<context>
    <name>telltale::views::EscalationRow</name>
    <message>
        <source>Back to what is in force</source>
        <translation>恢复为生效值</translation>
    </message>
    <message>
        <source>Collect nothing more</source>
        <translation>不额外采集</translation>
    </message>
    <message>
        <source>Fields of config.json</source>
        <translation>config.json 的字段</translation>
    </message>
    <message>
        <source>What the ranks around an incident of this rule collect more, for some steps; then what they had before. What a person applies comes first.</source>
        <translation>此规则发现事件时，相关 rank 在若干步内额外采集的内容；之后恢复原来的配置。人工应用的配置优先。</translation>
    </message>
    <message>
        <source>any</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Collect more…</source>
        <translation>额外采集…</translation>
    </message>
    <message>
        <source>Ask the ranks around an incident of this rule for more, for some steps</source>
        <translation>此规则发现事件时，让相关 rank 在若干步内采集更多内容</translation>
    </message>
    <message>
        <source>At most so many times in a run</source>
        <translation>每次运行最多这么多次</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>次数</translation>
    </message>
</context>
<context>
    <name>telltale::views::EventMark</name>
    <message>
        <source>rev %1</source>
        <translation>修订 %1</translation>
    </message>
    <message>
        <source>rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
</context>
<context>
    <name>telltale::views::FaceHead</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1, at %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>telltale::views::FactTree</name>
    <message>
        <source>Part of a name or a value</source>
        <translation>名称或值中的文字</translation>
    </message>
    <message>
        <source>Search hyperparameters and environment</source>
        <translation>搜索超参数和环境</translation>
    </message>
    <message>
        <source>Hyperparameters and environment</source>
        <translation>超参数和环境</translation>
    </message>
    <message>
        <source>Copy the selected rows, or all</source>
        <translation>复制所选行；未选则复制全部</translation>
    </message>
    <message>
        <source>Facts</source>
        <translation>信息</translation>
    </message>
</context>
<context>
    <name>telltale::views::FactTreeModel</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
</context>
<context>
    <name>telltale::views::FactsTree</name>
    <message>
        <source>Configs and hyperparameters that differ</source>
        <translation>不同的配置与超参数</translation>
    </message>
    <message>
        <source>Of</source>
        <translation>所属</translation>
    </message>
    <message>
        <source>Field</source>
        <translation>字段</translation>
    </message>
</context>
<context>
    <name>telltale::views::FieldHint</name>
    <message>
        <source>collected steps</source>
        <translation>采集步数</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>weight gradients</source>
        <translation>权重梯度</translation>
    </message>
    <message>
        <source>moments</source>
        <translation>Adam 矩</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Adam&apos;s update</source>
        <translation>Adam 更新量</translation>
    </message>
    <message>
        <source>call stacks</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>for zeros</source>
        <translation>用于判零</translation>
    </message>
    <message>
        <source>steps a file</source>
        <translation>每文件步数</translation>
    </message>
    <message>
        <source>every step</source>
        <translation>每一步</translation>
    </message>
    <message>
        <source>1 step in %1</source>
        <translation>每 %1 步一次</translation>
    </message>
    <message>
        <source>all rows</source>
        <translation>所有行</translation>
    </message>
    <message>
        <source>rows a head</source>
        <translation>每头行数</translation>
    </message>
    <message>
        <source>keeps none</source>
        <translation>不保留</translation>
    </message>
    <message>
        <source>steps kept</source>
        <translation>保留的步</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>无限制</translation>
    </message>
    <message>
        <source>% of step time</source>
        <translation>步时间的 %</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>all modules</source>
        <translation>全部模块</translation>
    </message>
    <message>
        <source>9 significant</source>
        <translation>9 位有效数字</translation>
    </message>
    <message>
        <source>decimals</source>
        <translation>小数位数</translation>
    </message>
</context>
<context>
    <name>telltale::views::FieldRow</name>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>原为 %1</translation>
    </message>
    <message>
        <source>Undo this change</source>
        <translation>撤销此改动</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>另有 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>by interval</source>
        <translation>按间隔</translation>
    </message>
    <message>
        <source>Only the training&apos;s own file can change it.</source>
        <translation>只有训练自己的配置文件可以更改它。</translation>
    </message>
</context>
<context>
    <name>telltale::views::FindingsTree</name>
    <message>
        <source>What differs first and most</source>
        <translation>最先和最大的不同</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>不同</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Quantity</source>
        <translation>量</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>The difference as a share of the larger of the two values</source>
        <translation>差值占两个值中较大者的比例</translation>
    </message>
    <message>
        <source>first</source>
        <translation>最先</translation>
    </message>
    <message>
        <source>at that step</source>
        <translation>同一步</translation>
    </message>
    <message>
        <source>largest of its kind</source>
        <translation>该类中最大</translation>
    </message>
</context>
<context>
    <name>telltale::views::FirstBad</name>
    <message>
        <source>First non-finite: step %1, rank %2, %3</source>
        <translation>首个非有限值：第 %1 步，rank %2，%3</translation>
    </message>
</context>
<context>
    <name>telltale::views::FrameList</name>
    <message>
        <source>A click copies file:line</source>
        <translation>点击复制 文件:行号</translation>
    </message>
</context>
<context>
    <name>telltale::views::HeadMapsCanvas</name>
    <message>
        <source>%1 × %2</source>
        <comment>queries and keys of an attention map</comment>
        <translation>%1 × %2</translation>
    </message>
    <message>
        <source>%1 head %2</source>
        <translation>%1 头 %2</translation>
    </message>
    <message>
        <source>masked</source>
        <translation>已屏蔽</translation>
    </message>
    <message>
        <source>none of these queries may attend to these keys</source>
        <translation>这些 query 都不能关注这些 key</translation>
    </message>
    <message>
        <source>of a query&apos;s attention</source>
        <translation>占一个 query 的注意力</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>attention weight, log</source>
        <comment>what a scale of colors is of</comment>
        <translation>注意力权重，对数</translation>
    </message>
    <message>
        <source>weight, log</source>
        <translation>权重，对数</translation>
    </message>
    <message>
        <source>query %1</source>
        <translation>query %1</translation>
    </message>
    <message>
        <source>queries %1 to %2</source>
        <translation>query %1 到 %2</translation>
    </message>
    <message>
        <source>key %1</source>
        <translation>key %1</translation>
    </message>
    <message>
        <source>keys %1 to %2</source>
        <translation>key %1 到 %2</translation>
    </message>
    <message>
        <source>this query may not attend to this key</source>
        <translation>这个 query 不能关注这个 key</translation>
    </message>
</context>
<context>
    <name>telltale::views::HeadMapsPanel</name>
    <message>
        <source>Attention maps of queries and keys</source>
        <translation>query 与 key 的注意力图</translation>
    </message>
    <message>
        <source>queries down, keys across, recorded at step %1</source>
        <translation>纵向为 query，横向为 key，记录于第 %1 步</translation>
    </message>
    <message>
        <source>queries down, keys across, recorded from step %1 to step %2</source>
        <translation>纵向为 query，横向为 key，记录于第 %1 步至第 %2 步</translation>
    </message>
    <message numerus="yes">
        <source>  ·  some of %n recorded steps in sight: zoom in to see more</source>
        <translation>
            <numerusform>  ·  可见范围内有 %n 个记录步，仅显示其中一部分：放大可查看更多</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  %n more are not drawn: select some</source>
        <translation>
            <numerusform>  ·  另有 %n 个未绘制：请选择几个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  none of the selected heads, these %n are recorded</source>
        <translation>
            <numerusform>  ·  所选的头均无记录，已记录的是这 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>  ·  %n selected heads have no map</source>
        <translation>
            <numerusform>  ·  另有 %n 个所选头没有注意力图</numerusform>
        </translation>
    </message>
    <message>
        <source>No module with an attention map matches the filter “%1”.</source>
        <translation>没有带注意力图的模块符合筛选“%1”。</translation>
    </message>
    <message>
        <source>Rank %1 has recorded no attention maps. Ask for some in the config: &quot;telltale&quot;: {&quot;attention_maps&quot;: {&quot;%2&quot;: [0, 1]}}</source>
        <translation>rank %1 没有记录注意力图。可在配置中要求记录：&quot;telltale&quot;: {&quot;attention_maps&quot;: {&quot;%2&quot;: [0, 1]}}</translation>
    </message>
    <message>
        <source>queries down, keys across, recorded at step %1, the last before step %2</source>
        <translation>纵向为 query，横向为 key，记录于第 %1 步，为第 %2 步之前的最后一次</translation>
    </message>
    <message>
        <source>queries down, keys across, recorded at step %1, the first after step %2</source>
        <translation>纵向为 query，横向为 key，记录于第 %1 步，为第 %2 步之后的第一次</translation>
    </message>
    <message>
        <source>  ·  step %1 is the last before step %2</source>
        <translation>  ·  第 %1 步是第 %2 步之前的最后一次</translation>
    </message>
    <message>
        <source>  ·  step %1 is the first after step %2</source>
        <translation>  ·  第 %1 步是第 %2 步之后的第一次</translation>
    </message>
    <message>
        <source>  ·  rank %1</source>
        <translation>  ·  rank %1</translation>
    </message>
</context>
<context>
    <name>telltale::views::HeatCanvas</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>at step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>, rank %1</source>
        <translation>，rank %1</translation>
    </message>
    <message>
        <source>%1, %2 MAD</source>
        <translation>%1，%2 MAD</translation>
    </message>
    <message>
        <source>%1, finite part %2</source>
        <translation>%1，有限部分 %2</translation>
    </message>
    <message>
        <source>not finite on rank %1</source>
        <translation>在 rank %1 上非有限</translation>
    </message>
    <message>
        <source>%1   A %2   B %3</source>
        <translation>%1   A %2   B %3</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>apart</source>
        <translation>不一致</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>%1, MAD of its row 0</source>
        <translation>%1，该行 MAD 为 0</translation>
    </message>
</context>
<context>
    <name>telltale::views::HeatmapView</name>
    <message>
        <source>Heatmap</source>
        <translation>热力图</translation>
    </message>
    <message>
        <source>Axes</source>
        <translation>坐标轴</translation>
    </message>
    <message>
        <source>module × step</source>
        <translation>模块 × 步</translation>
    </message>
    <message>
        <source>rank × step</source>
        <translation>rank × 步</translation>
    </message>
    <message>
        <source>module × rank</source>
        <translation>模块 × rank</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Statistic</source>
        <translation>统计量</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>刻度</translation>
    </message>
    <message>
        <source>linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>symlog</source>
        <translation>对称对数</translation>
    </message>
    <message>
        <source>deviation</source>
        <translation>偏离</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>model order</source>
        <translation>模型顺序</translation>
    </message>
    <message>
        <source>by value</source>
        <translation>按值</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Show the whole run</source>
        <translation>显示整个运行</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its modules here.</source>
        <translation>打开运行或接入训练任务后，这里显示其模块。</translation>
    </message>
    <message>
        <source>No module of this kind matches the filter “%1”.</source>
        <translation>没有此类别的模块符合筛选“%1”。</translation>
    </message>
    <message>
        <source>This run has no %1 on rank %2.</source>
        <translation>本次运行在 rank %2 上没有“%1”。</translation>
    </message>
    <message>
        <source>similar rows together</source>
        <translation>相似的行放在一起</translation>
    </message>
    <message>
        <source>%1 has no %2.</source>
        <translation>%1 没有“%2”。</translation>
    </message>
    <message>
        <source>The selected modules have no %1.</source>
        <translation>所选模块没有“%1”。</translation>
    </message>
    <message>
        <source>This run has no %1.</source>
        <translation>此运行没有“%1”。</translation>
    </message>
    <message>
        <source>by number</source>
        <translation>按编号</translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentCard</name>
    <message>
        <source>Root cause</source>
        <translation>根因</translation>
    </message>
    <message>
        <source>Go to source</source>
        <translation>转到源头</translation>
    </message>
    <message>
        <source>Shows its module, rank, kind, statistic and step everywhere</source>
        <translation>在所有视图中显示其模块、rank、类别、统计量和步</translation>
    </message>
    <message>
        <source>Acknowledge</source>
        <translation>知悉</translation>
    </message>
    <message>
        <source>Note, then Enter</source>
        <translation>写备注，按回车</translation>
    </message>
    <message>
        <source>Note on the incident</source>
        <translation>异常事件的备注</translation>
    </message>
    <message>
        <source>True alarm</source>
        <translation>属实</translation>
    </message>
    <message>
        <source>False alarm</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Acknowledged</source>
        <translation>已知悉</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message numerus="yes">
        <source>%n later findings folded</source>
        <translation>
            <numerusform>已折叠 %n 个后续发现</numerusform>
        </translation>
    </message>
    <message>
        <source>not over at the run&apos;s end</source>
        <translation>到运行结束时仍未平息</translation>
    </message>
    <message>
        <source>nothing new since step %1</source>
        <translation>自第 %1 步起没有新发现</translation>
    </message>
    <message numerus="yes">
        <source>%n findings</source>
        <translation>
            <numerusform>%n 个发现</numerusform>
        </translation>
    </message>
    <message>
        <source>Folded into %1</source>
        <translation>折叠到 %1</translation>
    </message>
    <message>
        <source>last seen at step %1</source>
        <translation>最近一次见于第 %1 步</translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentReach</name>
    <message>
        <source>Where it reached</source>
        <translation>波及范围</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>模块组</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>另有 %n 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentTable</name>
    <message>
        <source>Incidents</source>
        <translation>异常事件</translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentText</name>
    <message numerus="yes">
        <source> and %n more</source>
        <translation>
            <numerusform> 以及另外 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 by step %2</source>
        <translation>到第 %2 步，%1</translation>
    </message>
    <message>
        <source>Abnormal at the same moment, so which came first is not known: %1</source>
        <translation>在同一时刻异常，无法判断先后：%1</translation>
    </message>
    <message>
        <source>Note: %1</source>
        <translation>备注：%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::IncidentTimes</name>
    <message>
        <source>%1 ago</source>
        <translation>%1前</translation>
    </message>
    <message numerus="yes">
        <source>for %n steps so far</source>
        <translation>
            <numerusform>至今已 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 小时</translation>
    </message>
    <message numerus="yes">
        <source>%n days</source>
        <translation>
            <numerusform>%n 天</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>for %n steps, until the run&apos;s end</source>
        <translation>
            <numerusform>持续 %n 步，直到运行结束</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>seen over %n steps</source>
        <translation>
            <numerusform>见于 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <comment>steps and their time</comment>
        <translation>%1（%2）</translation>
    </message>
</context>
<context>
    <name>telltale::views::InspectorPanel</name>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Copy these values</source>
        <translation>复制这些值</translation>
    </message>
    <message>
        <source>Values at the cursor</source>
        <translation>光标处的值</translation>
    </message>
    <message>
        <source>Shapes</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>Select a module to see its values.</source>
        <translation>选择一个模块以查看其值。</translation>
    </message>
    <message>
        <source>value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>At step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 by rank</source>
        <translation>各 rank 的%1</translation>
    </message>
    <message>
        <source>norm and mean over finite elements, zeros over all</source>
        <translation>范数与均值仅计有限元素，零值占比计全部元素</translation>
    </message>
    <message>
        <source>%1: not collected</source>
        <translation>%1：未采集</translation>
    </message>
    <message>
        <source>%1 by rank, %2</source>
        <translation>各 rank 的%1，%2</translation>
    </message>
    <message>
        <source>%1: of its parameters, below</source>
        <translation>%1：属于其参数，见下</translation>
    </message>
    <message>
        <source>first of %1 selected</source>
        <translation>%1 个所选中的第一个</translation>
    </message>
</context>
<context>
    <name>telltale::views::InspectorText</name>
    <message>
        <source>rank %1 of %2</source>
        <translation>rank %1，共 %2 个 rank</translation>
    </message>
    <message>
        <source>of step %1</source>
        <translation>第 %1 步的值</translation>
    </message>
    <message>
        <source>last finite at %1</source>
        <translation>第 %1 步最近有限值</translation>
    </message>
    <message>
        <source>last finite</source>
        <translation>最近有限值</translation>
    </message>
    <message>
        <source>last finite %1 at %2</source>
        <translation>最近有限值 %1，第 %2 步</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <comment>last finite value, and its step</comment>
        <translation>%1（第 %2 步）</translation>
    </message>
    <message>
        <source>This run has no step %1.</source>
        <translation>此运行没有第 %1 步。</translation>
    </message>
    <message>
        <source>What was collected at step %1 cannot be read.</source>
        <translation>第 %1 步采集的数据无法读取。</translation>
    </message>
    <message>
        <source>What was collected at step %1 did not arrive.</source>
        <translation>第 %1 步采集的数据未送达。</translation>
    </message>
    <message>
        <source>Not collected at step %1.</source>
        <translation>第 %1 步未采集。</translation>
    </message>
</context>
<context>
    <name>telltale::views::JoinField</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Join string, token hidden</source>
        <translation>接入串，令牌已隐藏</translation>
    </message>
    <message>
        <source>Copy the join string with its token (Ctrl+Shift+C)</source>
        <translation>复制含令牌的接入串 (Ctrl+Shift+C)</translation>
    </message>
    <message>
        <source>Copy the join string</source>
        <translation>复制接入串</translation>
    </message>
</context>
<context>
    <name>telltale::views::JsonEditor</name>
    <message>
        <source>Text of the config</source>
        <translation>配置文本</translation>
    </message>
</context>
<context>
    <name>telltale::views::LabRuns</name>
    <message>
        <source>Runs to try the rules on</source>
        <translation>用来试验规则的运行</translation>
    </message>
    <message>
        <source>True</source>
        <translation>属实</translation>
    </message>
    <message>
        <source>False</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Clean</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>Incidents that are labeled true</source>
        <translation>标为属实的事件</translation>
    </message>
    <message>
        <source>Incidents that are labeled a false alarm</source>
        <translation>标为误报的事件</translation>
    </message>
    <message>
        <source>Nothing is wrong with the run: whatever is found in it, and not labeled true, is a false alarm</source>
        <translation>这次运行没有问题：其中找到的、未标为属实的事件都算误报</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
</context>
<context>
    <name>telltale::views::Lanes</name>
    <message>
        <source>others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>ranks %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>(model)</source>
        <translation>（模型）</translation>
    </message>
</context>
<context>
    <name>telltale::views::LogPanel</name>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Copy the selected lines, or all</source>
        <translation>复制所选行，未选则复制全部</translation>
    </message>
    <message>
        <source>Part of a message, a step or a rank</source>
        <translation>内容、步或 rank 的一部分</translation>
    </message>
    <message>
        <source>Filter the log</source>
        <translation>筛选日志</translation>
    </message>
    <message>
        <source>newest %1 of %2</source>
        <translation>最新 %1 / %2</translation>
    </message>
    <message>
        <source>No messages yet</source>
        <translation>还没有消息</translation>
    </message>
    <message>
        <source>Go to step %1</source>
        <translation>转到第 %1 步</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Change the note…</source>
        <translation>修改备注…</translation>
    </message>
    <message>
        <source>Remove the note</source>
        <translation>删除备注</translation>
    </message>
    <message>
        <source>No message has this</source>
        <translation>没有消息包含它</translation>
    </message>
</context>
<context>
    <name>telltale::views::LoggedCards</name>
    <message>
        <source>%1, step %2</source>
        <translation>%1，第 %2 步</translation>
    </message>
    <message numerus="yes">
        <source>the first %1 of %n names</source>
        <translation>
            <numerusform>%n 个名称中的前 %1 个</numerusform>
        </translation>
    </message>
    <message>
        <source>newest up to step %1</source>
        <translation>截至第 %1 步的最新内容</translation>
    </message>
    <message>
        <source>newest</source>
        <translation>最新内容</translation>
    </message>
    <message>
        <source>This image cannot be read.</source>
        <translation>无法读取此图像。</translation>
    </message>
</context>
<context>
    <name>telltale::views::LoggedPane</name>
    <message>
        <source>To the step before with a text or an image</source>
        <translation>转到上一个有文本或图像的步</translation>
    </message>
    <message>
        <source>To the next step with a text or an image</source>
        <translation>转到下一个有文本或图像的步</translation>
    </message>
    <message>
        <source>No texts or images: telltale.log_text() and telltale.log_image() in the training&apos;s program log them.</source>
        <translation>没有文本或图像：在训练程序中用 telltale.log_text() 和 telltale.log_image() 记录。</translation>
    </message>
    <message>
        <source>Texts and images</source>
        <translation>文本和图像</translation>
    </message>
</context>
<context>
    <name>telltale::views::LoggedSide</name>
    <message>
        <source>Texts and images</source>
        <translation>文本和图像</translation>
    </message>
</context>
<context>
    <name>telltale::views::ModuleCard</name>
    <message>
        <source>Collected</source>
        <translation>已采集</translation>
    </message>
    <message>
        <source>A click adds to the draft of the config</source>
        <translation>点击即加入配置草稿</translation>
    </message>
    <message>
        <source>Called from</source>
        <translation>调用位置</translation>
    </message>
    <message>
        <source>(model)</source>
        <translation>（模型）</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 个参数</translation>
    </message>
    <message>
        <source>%1 parameters, %2 of them are trained</source>
        <translation>%1 个参数，其中 %2 个参与训练</translation>
    </message>
    <message>
        <source>same as %1</source>
        <translation>与 %1 相同</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>targets + %1</source>
        <translation>targets + %1</translation>
    </message>
    <message>
        <source>Everything that costs little is collected of it already.</source>
        <translation>开销小的内容都已采集。</translation>
    </message>
    <message>
        <source>There is no config to draft here.</source>
        <translation>此处没有可起草的配置。</translation>
    </message>
    <message>
        <source>Fields other than targets are of every module that the config selects.</source>
        <translation>除 targets 外的字段对配置所选的每个模块生效。</translation>
    </message>
    <message>
        <source>Its stack was not taken: it did not run in that step.</source>
        <translation>未记录其调用栈：它在那一步没有运行。</translation>
    </message>
    <message>
        <source>stack_info in the config takes the call stacks of all modules, once.</source>
        <translation>配置中的 stack_info 会记录一次所有模块的调用栈。</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Shapes, parameters and device</source>
        <translation>形状、参数与设备</translation>
    </message>
    <message>
        <source>The config asks for all that costs little; a module that is never called itself has none of it.</source>
        <translation>配置已要求所有开销小的内容；自身从不被调用的模块没有这些。</translation>
    </message>
</context>
<context>
    <name>telltale::views::ModulesDelegate</name>
    <message>
        <source>The shown incident began here: %1</source>
        <translation>所显示的异常始于此处：%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::ModulesPanel</name>
    <message>
        <source>Modules</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Close all branches</source>
        <translation>收起所有分支</translation>
    </message>
    <message>
        <source>text, glob* or /regex/</source>
        <translation>文本、通配* 或 /正则/</translation>
    </message>
    <message>
        <source>Filter modules</source>
        <translation>筛选模块</translation>
    </message>
    <message>
        <source>Filter modules (Ctrl+F)</source>
        <translation>筛选模块 (Ctrl+F)</translation>
    </message>
    <message>
        <source>The model&apos;s own hierarchy, with the worst value of each part.</source>
        <translation>模型自身的层次，以及每个部分的最大偏离。</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>The worst first</source>
        <translation>最差者在前</translation>
    </message>
    <message>
        <source>The regular expression between the slashes cannot be read: %1. Mend it, or remove the slashes to look for the text itself.</source>
        <translation>斜杠之间的正则表达式无法读取：%1。请改正，或去掉斜杠以直接查找该文本。</translation>
    </message>
    <message>
        <source>No module matches.</source>
        <translation>没有匹配的模块。</translation>
    </message>
</context>
<context>
    <name>telltale::views::NotePainter</name>
    <message>
        <source>%1, by %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>telltale::views::NotesEditor</name>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>What people should know of this run</source>
        <translation>此运行的说明与注意事项</translation>
    </message>
    <message>
        <source>Keeps the notes in the run (Ctrl+Return)</source>
        <translation>将备注保存到运行中（Ctrl+Return）</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>尚未保存</translation>
    </message>
    <message>
        <source>Last written by %1</source>
        <translation>最后由 %1 编写</translation>
    </message>
    <message>
        <source>Written by the training</source>
        <translation>由训练程序编写</translation>
    </message>
</context>
<context>
    <name>telltale::views::OverviewCanvas</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>not smoothed</source>
        <translation>未平滑</translation>
    </message>
    <message>
        <source>smoothed %1, raw behind</source>
        <translation>平滑 %1，后方为原始曲线</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>另有 %1 项</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Plots</source>
        <translation>图</translation>
    </message>
    <message>
        <source>at %1</source>
        <comment>a step</comment>
        <translation>第 %1 步</translation>
    </message>
    <message numerus="yes">
        <source>on all %n ranks</source>
        <translation>
            <numerusform>全部 %n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>on both ranks</source>
        <translation>全部 2 个 rank</translation>
    </message>
    <message>
        <source>raw</source>
        <translation>原始值</translation>
    </message>
    <message>
        <source>each at its last step</source>
        <translation>各自的最后一步</translation>
    </message>
    <message>
        <source>smoothed %1</source>
        <translation>平滑 %1</translation>
    </message>
</context>
<context>
    <name>telltale::views::OverviewView</name>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>Smooth</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n ranks, attempt %2</source>
        <translation>
            <numerusform>%1，%n 个 rank，第 %2 次尝试</numerusform>
        </translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see how it does.</source>
        <translation>打开运行或接入训练任务，查看其进展。</translation>
    </message>
    <message>
        <source>No scalar yet: this view shows loss, gradient norm, learning rate and whatever else the run logs.</source>
        <translation>还没有标量：此视图显示 loss、梯度范数、学习率以及运行记录的其他指标。</translation>
    </message>
    <message>
        <source>overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>No scalar of this run can be read: its file is damaged.</source>
        <translation>此运行的文件已损坏：读不到任何标量。</translation>
    </message>
</context>
<context>
    <name>telltale::views::ParameterRow</name>
    <message>
        <source>Back to what is in force</source>
        <translation>恢复为生效值</translation>
    </message>
    <message>
        <source>Suggest a value by what was labeled</source>
        <translation>根据标注建议一个值</translation>
    </message>
    <message>
        <source>%1. Standard: %2</source>
        <translation>%1。标准值：%2</translation>
    </message>
    <message>
        <source>Back to %1, which is in force</source>
        <translation>恢复为生效值 %1</translation>
    </message>
    <message>
        <source>Look for the value that best separates what was labeled true from false alarms</source>
        <translation>寻找最能区分真实告警与误报的值</translation>
    </message>
</context>
<context>
    <name>telltale::views::RangeBox</name>
    <message>
        <source>zoomed</source>
        <translation>已缩放</translation>
    </message>
    <message>
        <source>whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>last %1</source>
        <translation>最近 %1 步</translation>
    </message>
</context>
<context>
    <name>telltale::views::RankBars</name>
    <message>
        <source>Value by rank</source>
        <translation>各 rank 的值</translation>
    </message>
</context>
<context>
    <name>telltale::views::RankMap</name>
    <message>
        <source>Fewer than %1 ranks hold the same part of the model: none can be told to be odd.</source>
        <translation>持有模型同一部分的 rank 不足 %1 个，无法判断哪个异常。</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Fewer than %1 alike: none is judged</source>
        <translation>同类不足 %1 个，不作判断</translation>
    </message>
    <message>
        <source>over the steps shown or at this step unlike its peers: not finite, or far in a tenth of the cells</source>
        <translation>在所显示的各步中或在此步与同类不同：非有限值，或十分之一的格子相差很远</translation>
    </message>
    <message>
        <source>over the steps shown or at this step very far from its peers in some cells</source>
        <translation>在所显示的各步中或在此步，个别格子与同类相差极远</translation>
    </message>
    <message>
        <source>%1 over the steps shown (%2 of %3 cells)</source>
        <translation>在所显示的各步中%1（%3 个格子中的 %2 个）</translation>
    </message>
    <message>
        <source>%1 at this step (%2 of %3 cells)</source>
        <translation>在此步%1（%3 个格子中的 %2 个）</translation>
    </message>
</context>
<context>
    <name>telltale::views::RankTable</name>
    <message>
        <source>Ranks</source>
        <translation>Rank</translation>
    </message>
</context>
<context>
    <name>telltale::views::RankTableModel</name>
    <message>
        <source>slow</source>
        <translation>慢</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>offline</source>
        <translation>离线</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>from the end of a step in the training until its samples are stored</source>
        <translation>从训练中一步结束到其样本入库的时间</translation>
    </message>
    <message>
        <source>what waits on the agent&apos;s disk</source>
        <translation>在代理磁盘上等待的数据</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>步时间</translation>
    </message>
    <message>
        <source>Lag</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Dropped</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Spool</source>
        <translation>暂存</translation>
    </message>
    <message>
        <source>Rate</source>
        <translation>速率</translation>
    </message>
    <message numerus="yes">
        <source>Longer than the others takes rank %1.</source>
        <translation>
            <numerusform>比其他 rank 耗时更长：rank %1。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Behind the store is rank %1.</source>
        <translation>
            <numerusform>落后于存储：rank %1。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Samples were lost of rank %1: views draw them as gaps.</source>
        <translation>
            <numerusform>rank %1 丢失了样本：视图中显示为缺口。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offline is rank %1: what it had not sent is not known.</source>
        <translation>
            <numerusform>rank %1 已离线：尚未发送的内容未知。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Earlier than the others ended rank %1.</source>
        <translation>
            <numerusform>比其他 rank 更早结束：rank %1。</numerusform>
        </translation>
    </message>
    <message>
        <source>Last step</source>
        <translation>最后一步</translation>
    </message>
</context>
<context>
    <name>telltale::views::RankTimesPanel</name>
    <message>
        <source>Time by rank</source>
        <translation>各 rank 的时间</translation>
    </message>
    <message>
        <source>rank %1: %2. </source>
        <translation>rank %1：%2。</translation>
    </message>
    <message>
        <source>rank %1: median %2, half of the steps from %3 to %4, 95 % of them from %5 to %6</source>
        <translation>rank %1：中位数 %2，一半的步在 %3 到 %4 之间，95 % 在 %5 到 %6 之间</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>Line: median. Inner box: half of the steps. Outer: 95 % of them.</source>
        <translation>线：中位数。内框：一半的步。外框：95 % 的步。</translation>
    </message>
</context>
<context>
    <name>telltale::views::RanksSide</name>
    <message>
        <source>Ranks</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>%1 by rank</source>
        <translation>各 rank 的 %1</translation>
    </message>
    <message numerus="yes">
        <source>last %n steps</source>
        <translation>
            <numerusform>最近 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>how far each agent is behind the store</source>
        <translation>各代理落后于存储多少</translation>
    </message>
    <message numerus="yes">
        <source>%n steps up to %1</source>
        <translation>
            <numerusform>至第 %1 步的 %n 步</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RanksView</name>
    <message>
        <source>by %1</source>
        <translation>按 %1</translation>
    </message>
    <message>
        <source>Ranks over steps</source>
        <translation>各 rank 随步变化</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Replicas</source>
        <translation>副本</translation>
    </message>
    <message>
        <source>Map of ranks</source>
        <translation>rank 分布图</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Statistic</source>
        <translation>统计量</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>刻度</translation>
    </message>
    <message>
        <source>linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>symlog</source>
        <translation>对称对数</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Below</source>
        <translation>下方</translation>
    </message>
    <message>
        <source>ranks over steps</source>
        <translation>各 rank 随步变化</translation>
    </message>
    <message>
        <source>replicas</source>
        <translation>副本</translation>
    </message>
    <message>
        <source>Follow the newest steps</source>
        <translation>跟随最新的步</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Show the whole run</source>
        <translation>显示整个运行</translation>
    </message>
    <message>
        <source>by number</source>
        <translation>按编号</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its ranks here.</source>
        <translation>打开一个运行，或连接一个训练任务，即可在此查看其各个 rank。</translation>
    </message>
    <message>
        <source>No module of this kind matches the filter “%1”.</source>
        <translation>没有此类别的模块与筛选“%1”匹配。</translation>
    </message>
    <message>
        <source>This run has no %1 on rank %2.</source>
        <translation>此运行在 rank %2 上没有“%1”。</translation>
    </message>
    <message>
        <source>Replicas over steps</source>
        <translation>副本随步变化</translation>
    </message>
    <message numerus="yes">
        <source>All %n ranks</source>
        <translation>
            <numerusform>全部 %n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>Modules over steps</source>
        <translation>模块随步变化</translation>
    </message>
    <message>
        <source>Modules by ranks</source>
        <translation>模块 × rank</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>The selected modules have no %1.</source>
        <translation>所选模块没有“%1”。</translation>
    </message>
    <message>
        <source>Replicas at the cursor</source>
        <translation>光标处的副本</translation>
    </message>
</context>
<context>
    <name>telltale::views::RecordsSection</name>
    <message>
        <source>Called from</source>
        <translation>调用位置</translation>
    </message>
    <message>
        <source>Inputs and outputs</source>
        <translation>输入与输出</translation>
    </message>
</context>
<context>
    <name>telltale::views::ReplicaCanvas</name>
    <message>
        <source>%1: no other rank holds the same part of the model as rank %2.</source>
        <translation>%1：没有其他 rank 与 rank %2 持有模型的同一部分。</translation>
    </message>
    <message>
        <source>%1 on ranks %2: </source>
        <translation>%1，rank %2：</translation>
    </message>
    <message>
        <source>the bits first differ at step %1</source>
        <translation>自第 %1 步起逐位不同</translation>
    </message>
    <message>
        <source>the bits are seen to differ from step %1 on</source>
        <translation>自第 %1 步起可见各位不同</translation>
    </message>
    <message>
        <source>; at the cursor rank %1 is not as most</source>
        <translation>；光标处 rank %1 与多数不同</translation>
    </message>
    <message>
        <source>no step here has checksums of two of them.</source>
        <translation>此处没有任何一步有其中两个的校验和。</translation>
    </message>
    <message>
        <source>bit for bit the same at every step shown.</source>
        <translation>在所示的每一步都逐位相同。</translation>
    </message>
    <message numerus="yes">
        <source>bit for bit the same at all %n steps looked at.</source>
        <translation>
            <numerusform>在查看的全部 %n 步都逐位相同。</numerusform>
        </translation>
    </message>
    <message>
        <source>At step %1, %2: </source>
        <translation>第 %1 步，%2：</translation>
    </message>
    <message>
        <source>%1 tensors are the same, %2 differ</source>
        <translation>%1 个张量相同，%2 个不同</translation>
    </message>
    <message>
        <source>%1 on rank %2</source>
        <translation>%1（rank %2）</translation>
    </message>
    <message>
        <source>spread of the %1: (largest − smallest) / largest</source>
        <translation>%1的差异：（最大 − 最小）/ 最大</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>spread</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>no checksums (telltale.checksum is not true).</source>
        <translation>没有校验和（telltale.checksum 未设为 true）。</translation>
    </message>
    <message>
        <source>%1.</source>
        <comment>a sentence</comment>
        <translation>%1。</translation>
    </message>
    <message numerus="yes">
        <source>%n tensors are not finite</source>
        <translation>
            <numerusform>%n 个张量非有限</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is the furthest apart of %2 tensors (%3)</source>
        <translation>%2 个张量中 %1 相差最大（%3）</translation>
    </message>
    <message numerus="yes">
        <source>%n tensors without spread</source>
        <translation>
            <numerusform>%n 个张量没有差异</numerusform>
        </translation>
    </message>
    <message>
        <source>no two ranks have a value</source>
        <translation>没有两个 rank 有值</translation>
    </message>
    <message>
        <source>(largest − smallest) / largest</source>
        <translation>（最大 − 最小）/ 最大</translation>
    </message>
    <message>
        <source>checksums</source>
        <translation>校验和</translation>
    </message>
    <message numerus="yes">
        <source>%n ranks: </source>
        <translation>
            <numerusform>%n 个 rank：</numerusform>
        </translation>
    </message>
    <message>
        <source>Ranks %1: </source>
        <translation>rank %1：</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>checksums differ</source>
        <translation>校验和不同</translation>
    </message>
    <message>
        <source>checksums agree</source>
        <translation>校验和一致</translation>
    </message>
    <message>
        <source>no checksums of this kind.</source>
        <translation>此类别没有校验和。</translation>
    </message>
    <message>
        <source>; each rank has its own values of this kind</source>
        <translation>；此类数据各 rank 本就不同</translation>
    </message>
    <message>
        <source>bit for bit the same where they have checksums; at %1 of %2 steps %3.</source>
        <translation>有校验和之处逐位相同；%2 步中有 %1 步%3。</translation>
    </message>
    <message numerus="yes">
        <source>nothing on %n ranks</source>
        <translation>
            <numerusform>%n 个 rank 没有数据</numerusform>
        </translation>
    </message>
    <message>
        <source>nothing on rank %1</source>
        <translation>rank %1 没有数据</translation>
    </message>
    <message>
        <source>At step %1, %2 (%3): </source>
        <translation>第 %1 步，%2（%3）：</translation>
    </message>
    <message>
        <source>spread on %1 of %2 ranks</source>
        <translation>%2 个 rank 中 %1 个的差异</translation>
    </message>
    <message>
        <source>the bits differ</source>
        <translation>二进制位不同</translation>
    </message>
    <message>
        <source>the bits are the same</source>
        <translation>二进制位相同</translation>
    </message>
    <message>
        <source>at some steps %1</source>
        <translation>部分步上%1</translation>
    </message>
</context>
<context>
    <name>telltale::views::ReplicaRanks</name>
    <message>
        <source>at step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message numerus="yes">
        <source>and %n more ranks</source>
        <translation>
            <numerusform>另有 %n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>other bits than most</source>
        <translation>与多数不同</translation>
    </message>
    <message>
        <source>the bits differ</source>
        <translation>二进制位不同</translation>
    </message>
</context>
<context>
    <name>telltale::views::RevisionList</name>
    <message>
        <source>Revisions of the config</source>
        <translation>配置修订</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>另有 %n 处</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::RevisionsModel</name>
    <message>
        <source>the same again</source>
        <translation>与之前相同</translation>
    </message>
    <message>
        <source>rev %1</source>
        <translation>修订 %1</translation>
    </message>
    <message>
        <source>step %1 by %2, %3</source>
        <translation>第 %1 步，%2，%3</translation>
    </message>
</context>
<context>
    <name>telltale::views::RuleLabView</name>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Back to the rules in force</source>
        <translation>恢复为生效的规则</translation>
    </message>
    <message>
        <source>Save as default</source>
        <translation>保存为默认</translation>
    </message>
    <message>
        <source>For every run that has no rules of its own: rules.json in the data directory</source>
        <translation>用于没有自己规则的所有运行：数据目录中的 rules.json</translation>
    </message>
    <message>
        <source>Save for this run</source>
        <translation>保存到此运行</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>As a document</source>
        <translation>文档</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>What changes</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Trying values: %1 of %2 replays</source>
        <translation>正在试验取值：重放 %1 / %2</translation>
    </message>
    <message>
        <source>%1 values judged again in %2 ms</source>
        <translation>重新判断 %1 个值，用时 %2 ms</translation>
    </message>
    <message numerus="yes">
        <source>%n appear</source>
        <translation>
            <numerusform>新增 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n vanish</source>
        <translation>
            <numerusform>消失 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>In force: this run&apos;s own rules</source>
        <translation>生效：此运行自己的规则</translation>
    </message>
    <message>
        <source>In force: the default rules of this folder</source>
        <translation>生效：此目录的默认规则</translation>
    </message>
    <message>
        <source>In force: the standard rules</source>
        <translation>生效：标准规则</translation>
    </message>
    <message>
        <source>tried: %1</source>
        <translation>试验：%1</translation>
    </message>
    <message>
        <source>Try %1</source>
        <translation>试验 %1</translation>
    </message>
    <message>
        <source>This program writes nothing.</source>
        <translation>此程序不写入任何内容。</translation>
    </message>
    <message>
        <source>Mend the document first.</source>
        <translation>请先修正文档。</translation>
    </message>
    <message>
        <source>Into the log of the run that is shown; it is judged by them from now on</source>
        <translation>写入所显示运行的日志；从现在起按这些规则判断</translation>
    </message>
    <message>
        <source>A value is suggested by what was labeled: label incidents in Anomalies as true or false, or say that a run is clean, and choose the runs.</source>
        <translation>建议值来自标注：请在“异常”中把事件标为属实或误报，或把运行标为正常，然后选择这些运行。</translation>
    </message>
    <message>
        <source>%1: nothing to separate: among the chosen runs there must be incidents that are true, and some that are false alarms at some value.</source>
        <translation>%1：没有可区分的内容：所选运行中须有属实的事件，并且在某个取值下有误报。</translation>
    </message>
    <message>
        <source>%1 of %2 true found, %3 false alarms</source>
        <translation>找到 %1 / %2 个属实事件，%3 个误报</translation>
    </message>
    <message>
        <source>now %1 of %2, %3</source>
        <translation>当前 %1 / %2，%3</translation>
    </message>
    <message>
        <source>%1 from %2 to %3 separates what is labeled: %4 (%5).</source>
        <translation>%1 取 %2 到 %3 可区分标注：%4（%5）。</translation>
    </message>
    <message>
        <source>No value of %1 separates what is labeled. From %2 to %3 it is best: %4 (%5).</source>
        <translation>%1 没有能区分标注的取值。%2 到 %3 最好：%4（%5）。</translation>
    </message>
    <message>
        <source>Saved as the rules of %1.</source>
        <translation>已保存为 %1 的规则。</translation>
    </message>
    <message>
        <source>Saved as the default rules.</source>
        <translation>已保存为默认规则。</translation>
    </message>
    <message>
        <source>%1 on</source>
        <translation>%1 开启</translation>
    </message>
    <message>
        <source>%1 off</source>
        <translation>%1 关闭</translation>
    </message>
    <message>
        <source>%1 escalates no more</source>
        <translation>%1 不再触发额外采集</translation>
    </message>
    <message>
        <source>%1 escalates</source>
        <translation>%1 触发额外采集</translation>
    </message>
    <message>
        <source>%1 escalates otherwise</source>
        <translation>%1 的额外采集已更改</translation>
    </message>
    <message>
        <source>Trying the rules on the chosen runs…</source>
        <translation>正在所选运行上试验规则…</translation>
    </message>
</context>
<context>
    <name>telltale::views::RulesText</name>
    <message>
        <source>Rules as a document</source>
        <translation>规则文档</translation>
    </message>
</context>
<context>
    <name>telltale::views::RunChooser</name>
    <message>
        <source>Search runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>Runs to compare with</source>
        <translation>用来对比的运行</translation>
    </message>
</context>
<context>
    <name>telltale::views::RunView</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>What the run logged</source>
        <translation>运行记录的内容</translation>
    </message>
    <message>
        <source>What the system uses</source>
        <translation>系统资源占用</translation>
    </message>
    <message>
        <source>This run has no system metrics: its config or its environment has them off, its agent sends none, or no step has ended yet.</source>
        <translation>此运行没有系统指标：配置或环境将其关闭、代理不发送，或还没有完成任何一步。</translation>
    </message>
    <message>
        <source>System</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>Texts and images</source>
        <translation>文本和图像</translation>
    </message>
    <message>
        <source>Console</source>
        <translation>控制台</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see what it says of itself.</source>
        <translation>打开一个运行，或连接一个训练任务，即可查看它的自述信息。</translation>
    </message>
    <message>
        <source>This run says nothing of itself: telltale.hyperparameters() in the training&apos;s program does.</source>
        <translation>此运行没有自述信息：在训练程序中调用 telltale.hyperparameters() 即可提供。</translation>
    </message>
    <message>
        <source>Hyperparameters</source>
        <translation>超参数</translation>
    </message>
    <message>
        <source>Environment</source>
        <translation>环境</translation>
    </message>
    <message>
        <source>Environment of rank %1, what differs</source>
        <translation>rank %1 的环境（仅差异）</translation>
    </message>
    <message>
        <source>Facts</source>
        <translation>信息</translation>
    </message>
    <message>
        <source>This run has no system metrics: its config or its environment has them off, or its agent sends none.</source>
        <translation>此运行没有系统指标：配置或环境将其关闭，或代理不发送。</translation>
    </message>
    <message>
        <source>Fields set in the config</source>
        <translation>配置中设置的字段</translation>
    </message>
</context>
<context>
    <name>telltale::views::RunsFilter</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>%1, compared, %2 of %3</source>
        <translation>%1，参与对比，第 %2 个，共 %3 个</translation>
    </message>
</context>
<context>
    <name>telltale::views::RunsPanel</name>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>Open a run</source>
        <translation>打开运行</translation>
    </message>
    <message>
        <source>Live and archived runs appear here.</source>
        <translation>进行中和已归档的运行显示在这里。</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Import a run: keep a copy here</source>
        <translation>导入运行：在此保留副本</translation>
    </message>
    <message>
        <source>Compare with the run shown</source>
        <translation>与当前运行对比</translation>
    </message>
    <message>
        <source>Compare the selected runs (Ctrl+click selects more)</source>
        <translation>对比选中的运行（Ctrl+单击可多选）</translation>
    </message>
    <message>
        <source>Compare these</source>
        <translation>对比这些运行</translation>
    </message>
    <message>
        <source>Open at its first non-finite value</source>
        <translation>在首个非有限值处打开</translation>
    </message>
    <message>
        <source>Group by folder</source>
        <translation>按文件夹分组</translation>
    </message>
    <message>
        <source>Group by name</source>
        <translation>按名称分组</translation>
    </message>
    <message>
        <source>Group by tag</source>
        <translation>按标签分组</translation>
    </message>
    <message>
        <source>No run matches.</source>
        <translation>没有匹配的运行。</translation>
    </message>
    <message>
        <source>End the comparison (“Choose runs” in the Compare view adds others)</source>
        <translation>结束对比（“对比”视图中的“选择运行”可添加其他运行）</translation>
    </message>
    <message>
        <source>Part of a name, or tag:x</source>
        <translation>名称的一部分，或 tag:x</translation>
    </message>
    <message>
        <source>All words hold. Of the name: gpt, gpt-*, /^gpt/
tag:base – it has this tag
note:&quot;warm up&quot; – its note says so
config:lr&lt;=1e-4 – lr in its config; also = != &lt; &gt; &gt;=
incident:critical – it has one; also warning, notice
state:failed,lost – it is in one of these states
since:7d until:2026-11-24 – it began within these</source>
        <translation>所有条件同时成立。名称：gpt、gpt-*、/^gpt/
tag:base：带有此标签
note:&quot;warm up&quot;：备注含有这些字
config:lr&lt;=1e-4：其配置中的 lr；另有 = != &lt; &gt; &gt;=
incident:critical：有此级异常；另有 warning、notice
state:failed,lost：处于其中一种状态
since:7d until:2026-11-24：在此期间开始</translation>
    </message>
</context>
<context>
    <name>telltale::views::ScoreTree</name>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Run and rule</source>
        <translation>运行与规则</translation>
    </message>
    <message>
        <source>In force</source>
        <translation>生效</translation>
    </message>
    <message>
        <source>Tried</source>
        <translation>试验</translation>
    </message>
    <message>
        <source>Hits</source>
        <translation>命中</translation>
    </message>
    <message>
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Missed</source>
        <translation>漏报</translation>
    </message>
    <message>
        <source>Lead</source>
        <translation>提前步数</translation>
    </message>
    <message>
        <source>Incidents that the rules find that are tried</source>
        <translation>试验规则找到的事件</translation>
    </message>
    <message>
        <source>Incidents labeled true that are found</source>
        <translation>找到的、标为属实的事件</translation>
    </message>
    <message>
        <source>Incidents labeled a false alarm, or found in a clean run</source>
        <translation>标为误报的事件，或在正常运行中找到的事件</translation>
    </message>
    <message>
        <source>Incidents labeled true that are not found</source>
        <translation>没有找到的、标为属实的事件</translation>
    </message>
    <message>
        <source>Steps by which hits become known before the labeled incidents did (below 0: after them); the median</source>
        <translation>命中比标注事件提前得知的步数（小于 0 表示更晚）；取中位数</translation>
    </message>
    <message numerus="yes">
        <source>All %n runs</source>
        <translation>
            <numerusform>全部 %n 次运行</numerusform>
        </translation>
    </message>
    <message>
        <source>Incidents that the rules in force find; the run&apos;s own were found by those of its time</source>
        <translation>生效规则发现的异常事件；运行自身的事件由当时的规则发现</translation>
    </message>
</context>
<context>
    <name>telltale::views::Stack</name>
    <message>
        <source>A click on a place copies it.</source>
        <translation>点击位置即可复制。</translation>
    </message>
    <message>
        <source>Copied: %1</source>
        <translation>已复制：%1</translation>
    </message>
    <message>
        <source>No line outside of libraries called it.</source>
        <translation>调用它的只有库代码。</translation>
    </message>
</context>
<context>
    <name>telltale::views::StructureModel</name>
    <message>
        <source>(model)</source>
        <translation>（模型）</translation>
    </message>
    <message>
        <source>same as %1</source>
        <translation>与 %1 相同</translation>
    </message>
    <message>
        <source>parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>parameter, frozen</source>
        <translation>参数，已冻结</translation>
    </message>
    <message>
        <source>%1 parameters, %2 of them are trained</source>
        <translation>%1 个参数，其中 %2 个参与训练</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <source>Dtype</source>
        <translation>数据类型</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Collected</source>
        <translation>已采集</translation>
    </message>
    <message numerus="yes">
        <source>%n kinds</source>
        <translation>
            <numerusform>%n 类</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>telltale::views::StructureView</name>
    <message>
        <source>Structure</source>
        <translation>结构</translation>
    </message>
    <message>
        <source>Structure of the model</source>
        <translation>模型结构</translation>
    </message>
    <message>
        <source>Choose a module to see what is collected of it.</source>
        <translation>选择一个模块，查看对它采集了什么。</translation>
    </message>
    <message>
        <source>Open a run, or connect a training job, to see its model.</source>
        <translation>打开一个运行，或连接一个训练任务，即可查看其模型。</translation>
    </message>
    <message>
        <source>This run has no structure of its model: its agent sent none.</source>
        <translation>此运行没有模型结构：其代理未发送。</translation>
    </message>
    <message>
        <source>%1, %2 parameters, %3</source>
        <translation>%1，%2 个参数，%3</translation>
    </message>
</context>
<context>
    <name>telltale::views::TagsLine</name>
    <message>
        <source>Add a tag</source>
        <translation>添加标签</translation>
    </message>
    <message>
        <source>Take the tag away</source>
        <translation>移除此标签</translation>
    </message>
    <message>
        <source>Tag %1, press to take it away</source>
        <translation>标签 %1，按下即移除</translation>
    </message>
    <message>
        <source>Tag %1</source>
        <translation>标签 %1</translation>
    </message>
</context>
<context>
    <name>telltale::views::Timeline</name>
    <message>
        <source>Whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>step %1, rank %2</source>
        <translation>第 %1 步，rank %2</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Both runs</source>
        <translation>两次运行</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>所有运行</translation>
    </message>
</context>
<context>
    <name>telltale::views::TimelineCanvas</name>
    <message>
        <source>Anomaly timeline</source>
        <translation>异常时间线</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
</context>
<context>
    <name>telltale::views::VerdictLine</name>
    <message>
        <source>Go to it</source>
        <translation>转到该处</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Comparing every value: %1 %</source>
        <translation>正在逐值对比：%1 %</translation>
    </message>
    <message>
        <source>The comparison of every value was stopped.</source>
        <translation>逐值对比已停止。</translation>
    </message>
</context>
</TS>
