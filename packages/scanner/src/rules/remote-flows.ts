import type { Pattern } from '../match/rule.ts'
import { knownInstaller } from './known-installers.ts'
import { runPipe } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

/**
 * Patterns for a file or variable that is fetched, and run under the same name after any other code. Back references
 * are in lookaheads, because their width is unknown.
 */
const fetched = regex`\b(curl|wget2?|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer)\b`
const away = regex`(?!{0-60 in line}://${knownInstaller})`
const run = regex`(([\n;&|({\uE000]|\b(sudo|then|do|and|nohup|exec|run|execute))\s?
  ((sudo|nohup|exec|time|run|execute) ){0,2}((ba|z|da|k)?sh|source|\.|python[\d.]{0,4}|perl|ruby|node|php|
  start-process|start|msiexec\s\S{1,3}|&|powershell(\s-\w{1,16}(\sbypass)?){0,3}|cmd /c)\s(-\w{1,10}\s){0,2}["']?
  (\.[/\\])?|([\n;&({\uE000]|\b(sudo|then|nohup|exec|run|execute)\s)\s?(sudo |nohup ){0,2}["'\x60]?
  (\.[/\\]|(?=[/~$])))`

/** Code that is fetched into a file or a variable and run from there. */
export const fetchedAndRun: readonly Pattern[] = [
  containing('curl|wget|aria2c|iwr|irm|invoke-|bitstransfer')`${fetched}${away}(?={0-200 in line}(https?:|\$))
    {0-160 in line}(\s>\s?|-o\s?|-\w{1,6}o\s|--output(-document)?[ =]|-outfile\s|-destination\s)["']?
    (?<file>[\w./~$%:{}\\-]{2,60})(?=["'\s;&)]|$)[^]{0,180}?${run}(?=\k<file>(?![\w-]|\.\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\b(curl\s(-\w{1,6}\s){0,3}-\w{0,5}o\w{0,3}|wget2?|aria2c)\b${away}[^\n\uE000;|]{0,60}https?://
    [^\s\uE000]{4,120}/(?<name>[\w.-]{2,60})["'\s;][^]{0,120}?${run}(?=\k<name>(?![\w-]|\.\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\b(?<value>\w{1,24})=["']?\$\(\s?(curl|wget)\b${away}{0-200 in line}[^]{0,160}?
    (\beval\s|\b((ba|z)?sh|python[\d.]{0,4}|node|perl|ruby|php)\s-[cer]\s|<<<\s?|\bsource\s|\bexec\s)["']{0,2}\$\{?
    (?=\k<value>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\b(?<script>\w{1,24})=["']?\$\(\s?(curl|wget)\b${away}{0-200 in line}[^]{0,160}?\b(echo|printf)\s
    [^\n\uE000|]{0,20}\$\{?(?=\k<script>)[\w./~$%:{}\\-]{1,60}\}?["']?\s?${runPipe}`,
  regex`\bdownloadfile\w{0,5}\s?\(\s?[^\n\uE000,]{4,120},\s?["']?(?<target>[\w.%$:{}\/-]{3,60})["']?\s?\)[^]{0,120}?
    (\bstart(-process)?\s|&\s|\biex\s|process\.start\s?\(|\binvoke-item\s|\bii\s)["']{0,2}(?=\k<target>(?!\w))
    [\w./~$%:{}\\-]{1,60}`,
  regex`\b(urlretrieve|download_file|downloadfile)\s?\(\s?[^\n\uE000,]{4,120},\s?["']?(?<place>[\w./~-]{2,60})["']?
    \s?\)[^]{0,240}?\b(os\.system|subprocess\.\w{3,12}|os\.startfile|popen|exec\w{0,8}|spawn\w{0,4})\s?\(\s?\[?\s?f?
    ["']?((ba|z)?sh |chmod \S{1,5} )?(?=\k<place>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\b(curl|wget)\b${away}[^\n\uE000|]{8,200}\|\s?(sudo )?(bsd)?tar\s[^\n\uE000;&]{1,50}(&&|;)\s?(sudo |nohup )?
    ((ba)?sh\s)?(\./|/tmp/|/var/tmp/|/dev/shm/)[\w./-]{1,50}`,
  regex`\bgit clone\s[^\n\uE000;&]{8,140}\s(/tmp|/dev/shm|/var/tmp|~?/\.)[\w./-]{1,40}\s?[^\n\uE000;&]{0,12}(&&|;|\n)
    \s?(cd\s[\w./~-]{1,40}\s?(&&|;|\n)\s?)?(sudo )?((ba)?sh|python\d?|\./|node)\s?[\w./~-]{1,40}`,
  regex`\b((download|fetch|grab|obtain)s?|get (it|the))\b${away}{0-70 in line}https?://
    (?!(www\.)?(github|gitlab|python|nodejs|microsoft|apple|docker|git-scm)\.)[^\s\uE000]{4,120}\.(zip|exe|dmg|pkg|
    msi|sh|ps1|bat|7z|rar|scr|jar|bin|run|appimage|vbs|cmd)\b[^\uE000.]{0,70}\b(run|execute|launch|double-?click|
    start) (?!(with|from|a|the (app|server|project))\b)`,
  {
    anchors: ['curl', 'wget'],
    match: regex`(\b(ba|z|da)?sh\s-\w{0,3}c|\beval)\s["']?\x60\s?(curl|wget)\s[^\x60\n]{4,200}\x60`,
    view: 'raw',
  },
]

const source = regex`(requests\.(get|post)|httpx\.(get|post)|urlopen|file_get_contents\s?\(
  \s?["']https?|axios\.get|(await )?fetch\s?\(|\bget\s?\(\s?["']https?|uri\.open|net::http\.get|downloadstring|
  curl_exec|http\.get)`
/** Anchors: every expression that requests data from a server contains one. */
const sourceAnchors = [
  'requests.',
  'httpx.',
  'urlopen',
  'file_get_contents',
  'axios.get',
  'fetch(',
  'get(',
  'uri.open',
  'downloadstring',
  'curl_exec',
  'http.get',
]
const evaluates = regex`((?<![.\w])(exec|eval|compile|new function|iex|invoke-expression|
  marshal\.loads|pickle\.loads|dill\.loads|vm\.runin\w{3,12})\s?\(?\s?\$?|["']-[ce]["'],\s?|\bcreate_function\s?\(
  {0-12 in line},\s?\$?)`

/** The response of a server is stored in a variable, and the variable is run as a program. */
export const answerRun: readonly Pattern[] = [
  containing(sourceAnchors)`(?<![\w.])\$?(?<answer>[a-z_]\w{0,23})\s?:?=\s?[^\n\uE000=]{0,30}?${source}
    {0-160 in line}[^]{0,200}?${evaluates}(?=\k<answer>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\b(?<data>[a-z_]\w{0,15})\s?\+=\s?\w{1,12}[^]{0,60}?\.on\s?\(\s?["']end["'][^]{0,40}?(?<![.\w])
    (eval|new function|vm\.runin\w{3,12})\s?\(\s?(?=\k<data>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  regex`\bassembly\]::load\w{0,12}\s?\({0-80 in line}(downloaddata|downloadstring|frombase64string)\b`,
  regex`\beval\s?\(?\s?["']?\s?(uri\.open|open-uri|net::http\.get|lwp|httpclient)`,
  /\beval\s?\(?\s?get\s?\(\s?["']https?:/,
  regex`\b(torch|joblib|cloudpickle|pickle|np|numpy)\.loads?\s?\(\s?{0-24 in line}(requests\.get|httpx\.get|urlopen)
    \s?\({0-120 in line}(weights_only\s?=\s?false|allow_pickle\s?=\s?true|\))`,
  regex`\byaml\.(load|unsafe_load)\s?\(\s?(requests|httpx|urlopen|urllib){0-80 in line}(unsafe|full)?loader\b`,
]

const shellCall = regex`(\bsubprocess\.\w{3,12}|\bos\.(system|popen)|\bgetoutput|\bcheck_output
  |(?<![.\w])(exec|eval|execsync|spawn|spawnsync)|\bchild_process["']?\s?\)?\.\w{4,9}|\bcp\.exec\w{0,4}|\bio\.popen|
  \bshell_exec|\bpassthru|(?<![.\w])system|\bprocess\.start)\s?\(\s?`

/** Commands that are received from another machine and run. */
export const commandsFromAfar: readonly Pattern[] = [
  regex`\b(?<order>[a-z_]\w{0,20})\s?=\s?{0-30 in line}\.recv\s?\([^]{0,240}?${shellCall}\[?\s?(?=\k<order>(?!\w))
    [\w./~$%:{}\\-]{1,60}`,
  regex`(\.on\s?\(\s?["'](message|data|command)["']\s?,|\bonmessage\s?=)\s?(async )?(function\s?)?\(?
    (?<sent>\w{1,16})\)?\s?(=>|\{)[^]{0,100}?${shellCall}(?=\k<sent>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  containing(sourceAnchors)`\b(?<job>tasks?|cmds?|commands?|orders?|jobs?|instructions?)\s?=\s?{0-20 in line}
    ${source}{0-120 in line}[^]{0,120}?${shellCall}\[?\s?\$?(?=\k<job>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  containing('sh -i|/bin/sh|/bin/bash')`\b(ba|z|da)?sh\s-i\s?(<&|0<&)\s?\d{1,3}\s?>&`,
  regex`\b(?<body>[a-z_]\w{0,20})\s?=\s?{0-20 in line}(rfile\.read|request\.(data|get_data|body)|req\.body)\b
    [^]{0,160}?${shellCall}\[?\s?(?=\k<body>(?!\w))\w{1,21}`,
  regex`\bztcp\s(-\w\s)?[\w.-]{4,60}\s\d{2,5}\b`,
  regex`\bopenssl\ss_client\b[^\n\uE000|]{3,120}\|\s?(/(usr/)?bin/)?(ba|z|da)?sh\b`,
]
