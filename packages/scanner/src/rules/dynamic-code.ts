import type { Combination, Fact, Rule } from '../match/rule.ts'
import { answerRun } from './remote-flows.ts'
import { requestRun } from './system-flows.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

const category = 'remote-code'
const references = [
  'https://cwe.mitre.org/data/definitions/95.html',
  'https://cwe.mitre.org/data/definitions/94.html',
  'https://attack.mitre.org/techniques/T1059/',
]
const remediation = 'Parse data (such as JSON with a schema), and call fixed functions by name.'

/** Rules about running code that is not part of the skill. */
export const rules: readonly Rule[] = [
  {
    id: 'runs-answer',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Runs the response of a server as code',
    why: 'The owner of the server decides at each run what the machine does.',
    remediation,
    references,
    patterns: [
      ...answerRun,
      regex`(?<![.\w])(exec|eval|new function|function|compile|os\.system|subprocess\.\w{3,12}|pickle\.loads|
        marshal\.loads|dill\.loads|vm\.runin\w{3,12}|execsync|instance_eval|yaml\.(load|unsafe_load))\s?\(\s?
        (await\s)?\(?[^\n\uE000;]{0,40}\b(urlopen\s?\(|requests\.(get|post)\s?\(|httpx\.(get|post)\s?\(|
        fetch\s?\(\s?["'h]|axios\.get\s?\(|file_get_contents\s?\(\s?["']https?|open-uri|uri\.open\s?\(|
        net::http\.get|\.downloadstring\s?\()`,
      within(240, /\uE000\uE000/)`\b(requests\.get|httpx\.get|urlopen|axios\.get|fetch)\s?\(\s?(?!\)){1-80 in line}
        … (?<![.\w])(exec|eval|new function)\s?\(\s?(await\s)?(r|res|resp|response|code|payload|body|data|script|
        text|content|remote\w{0,12}|src|source)(\.(text|content|data|read\(\)|decode\([^\n)]{0,10}\)|body|
        text\(\))){0,2}\s?[,)]|\bpickle\.loads\s?\(\s?(r|res|resp|response|data|payload|content)\b`,
      within(200, /\uE000\uE000/)`\b(payload|script|code|cmd|command|stage\d?|body)\s?=\s?(await\s)?
        (execsync|subprocess\.check_output|requests\.get|urlopen|urllib\.request\.urlopen)\s?\(\s?{0-60 in line}
        (curl|wget|http|url)
        … \b(execsync|os\.system|subprocess\.\w{3,12}|exec|eval|spawnsync)\s?\(\s?(payload|script|code|cmd|command|
        stage\d?|body)\b`,
      regex`\bfetch\s?\({1-80 in line}\.then\s?\({1-60 in line}\.then\s?\(\s?
        (eval\b|\(?\w{1,10}\)?\s?=>\s?(eval|new function|function)\s?\()`,
      regex`\bimport\s?\(\s?["']https?://(?!esm\.sh|cdn\.jsdelivr|unpkg|deno\.land|cdn\.skypack|esm\.run|jsr\.io)
        [\w.-]{4,60}|\bimport\s?\(\s?["']data:text/javascript`,
    ],
  },
  {
    id: 'code-in-data',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Hides a shell call in a value or an expression',
    why: 'The hidden command runs when a program evaluates the value.',
    remediation: 'Remove it.',
    references,
    patterns: [
      ...requestRun,
      regex`["'\x60:=]\s?(return )?(global\.)?(process\.mainmodule\.)?require\s?\(\s?\\?["']child_process\\?["']\s?
        \)\.(exec|spawn)\w{0,8}\s?\(`,
      regex`\b(__)?import(__)?\s?\(\s?\\?["'](os|subprocess|pty|socket|urllib\.request|requests)\\?["']\s?\)\.
        (system|popen|call|run|check_output|spawn|getoutput|urlopen|post|get)\s?\(|\bclass(__)?\.(__)?mro(__)?\b
        {0-40 in line}subclasses|\.(__)?globals(__)?\b{0-60 in line}\bpopen\s?\(`,
    ],
  },
  {
    id: 'runs-argument',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Runs an argument as code',
    why: 'The author of the text, or of the page that it comes from, can run any code.',
    remediation,
    references: [...references, 'https://cwe.mitre.org/data/definitions/78.html'],
    patterns: [
      regex`(?<![.\w$])(eval|exec)\s?\(\s?(sys\.argv|input\s?\(|\w{1,20}\[|args?\b|user_?input|expr(ession)?\b|code\b|
        request\.|req\.|config\b|rule\b|f["'])|\bshell\s?=\s?true\b|\bshell\s?:\s?true\b|
        \byaml\.(load\s?\((?!{0-80 in line}safe)|unsafe_load)|\bpickle\.loads?\s?\(|\b(ba)?sh -c\s["']?\$\{?\w|
        \bnew function\s?\(\s?\w`,
    ],
  },
]

export const facts: readonly Fact[] = [
  {
    id: 'fetches-text',
    patterns: [
      regex`\burlopen\s?\(|\brequests\.get\s?\(|\bhttpx\.get\s?\(|\bfetch\s?\(\s?["'\x60h$u]|\baxios\.get\s?\(|
        \bhttps?\.get\s?\(|\burlretrieve\s?\(`,
    ],
  },
  {
    id: 'runs-text',
    patterns: [
      regex`(?<![.\w$])(eval|exec)\s?\(\s?(?!["'\x60)])[\w([{]|\bnew function\s?\(\s?\w|\bos\.(system|popen)\s?\(\s?
        (?!["'f\x60])\w|\bshell\s?=\s?true\b|\bexecsync\s?\(\s?(?!["'\x60])\w|\bsubprocess\.(run|popen|call)\s?\(\s?
        \[?\s?\w{0,16}(path|file|dest|tmp|binary|exe)\b|\b(subprocess\.\w{3,12}|os\.system|popen|exec\w{0,8}|
        spawn\w{0,4})\s?\({0-40 in line}["'\s](/tmp|/var/tmp|/dev/shm)/|\bos\.startfile\s?\(|\bchmod(sync)?\s?\(
        {1-60 in line}0?o?7\d\d`,
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'fetched-near-run',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Fetches data and runs a text as code in the same file',
    why: 'The text that is run may be the fetched data.',
    remediation,
    references,
    all: [['fetches-text'], ['runs-text']],
    within: 60,
  },
]
