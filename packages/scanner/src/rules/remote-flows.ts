import type { Pattern } from '../rule.ts'
import { knownInstaller } from './known-installers.ts'
import { runPipe, shape } from './shapes.ts'

/** The same name must stand where something is fetched and where it is run: then it is no matter what lies between. A reference stands in a look ahead, as its width is not known. */
const fetched = /\b(?:curl|wget2?|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer)\b/
const away = shape`(?![^\n\uE000]{0,60}:\/\/${knownInstaller})`
const run =
  /(?:(?:[\n;&|({\uE000]|\b(?:sudo|then|do|and|nohup|exec|run|execute))\s?(?:(?:sudo|nohup|exec|time|run|execute) ){0,2}(?:(?:(?:ba|z|da|k)?sh|source|\.|python[\d.]{0,4}|perl|ruby|node|php|start-process|start|msiexec\s\S{1,3}|&|powershell(?:\s-\w{1,16}(?:\sbypass)?){0,3}|cmd \/c)\s(?:-\w{1,10}\s){0,2})["']?(?:\.[/\\])?|(?:[\n;&({\uE000]|\b(?:sudo|then|nohup|exec|run|execute)\s)\s?(?:sudo |nohup ){0,2}["'`]?(?:\.[/\\]|(?=[/~$])))/

/** What is fetched into a file and run from there, or into a variable. */
export const fetchedAndRun: readonly Pattern[] = [
  {
    anchors: ['curl', 'wget', 'aria2c', 'iwr', 'irm', 'invoke-', 'bitstransfer'],
    match: shape`${fetched}${away}(?=[^\n\uE000]{0,200}(?:https?:|\$))[^\n\uE000]{0,160}?(?:\s>\s?|-o\s?|-\w{1,6}o\s|--output(?:-document)?[ =]|-outfile\s|-destination\s)["']?(?<file>[\w./~$%:{}\\-]{2,60})(?=["'\s;&)]|$)[^]{0,180}?${run}(?=\k<file>(?![\w-]|\.\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ['curl', 'wget', 'aria2c'],
    match: shape`\b(?:curl\s(?:-\w{1,6}\s){0,3}-\w{0,5}o\w{0,3}|wget2?|aria2c)\b${away}[^\n\uE000;|]{0,60}https?:\/\/[^\s\uE000]{4,120}\/(?<name>[\w.-]{2,60})["'\s;][^]{0,120}?${run}(?=\k<name>(?![\w-]|\.\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ['$(curl', '$(wget', '$( curl', '$( wget'],
    match: shape`\b(?<value>\w{1,24})=["']?\$\(\s?(?:curl|wget)\b${away}[^\n\uE000]{0,200}[^]{0,160}?(?:\beval\s|\b(?:(?:ba|z)?sh|python[\d.]{0,4}|node|perl|ruby|php)\s-[cer]\s|<<<\s?|\bsource\s|\bexec\s)["']{0,2}\$\{?(?=\k<value>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ['$(curl', '$(wget'],
    match: shape`\b(?<script>\w{1,24})=["']?\$\(\s?(?:curl|wget)\b${away}[^\n\uE000]{0,200}[^]{0,160}?\b(?:echo|printf)\s[^\n\uE000|]{0,20}\$\{?(?=\k<script>)[\w./~$%:{}\\-]{1,60}\}?["']?\s?${runPipe}`,
  },
  {
    anchors: ['downloadfile', 'urlretrieve', '.outfile', 'webclient'],
    match:
      /\bdownloadfile\w{0,5}\s?\(\s?[^\n\uE000,]{4,120},\s?["']?(?<target>[\w.%$:{}\\/-]{3,60})["']?\s?\)[^]{0,120}?(?:\bstart(?:-process)?\s|&\s|\biex\s|process\.start\s?\(|\binvoke-item\s|\bii\s)["']{0,2}(?=\k<target>(?!\w))[\w./~$%:{}\\-]{1,60}/,
  },
  {
    anchors: ['urlretrieve', 'download_file', 'downloadfile'],
    match:
      /\b(?:urlretrieve|download_file|downloadfile)\s?\(\s?[^\n\uE000,]{4,120},\s?["']?(?<place>[\w./~-]{2,60})["']?\s?\)[^]{0,240}?\b(?:os\.system|subprocess\.\w{3,12}|os\.startfile|popen|exec\w{0,8}|spawn\w{0,4})\s?\(\s?\[?\s?f?["']?(?:(?:ba|z)?sh |chmod \S{1,5} )?(?=\k<place>(?!\w))[\w./~$%:{}\\-]{1,60}/,
  },
  {
    anchors: ['| tar', '|tar', '| bsdtar'],
    match: shape`\b(?:curl|wget)\b${away}[^\n\uE000|]{8,200}\|\s?(?:sudo )?(?:bsd)?tar\s[^\n\uE000;&]{1,50}(?:&&|;)\s?(?:sudo |nohup )?(?:(?:ba)?sh\s)?(?:\.\/|\/tmp\/|\/var\/tmp\/|\/dev\/shm\/)[\w./-]{1,50}`,
  },
  {
    anchors: ['git clone'],
    match:
      /\bgit clone\s[^\n\uE000;&]{8,140}\s(?:\/tmp|\/dev\/shm|\/var\/tmp|~?\/\.)[\w./-]{1,40}\s?(?:[^\n\uE000;&]{0,12})(?:&&|;|\n)\s?(?:cd\s[\w./~-]{1,40}\s?(?:&&|;|\n)\s?)?(?:sudo )?(?:(?:ba)?sh|python\d?|\.\/|node)\s?[\w./~-]{1,40}/,
  },
  {
    anchors: ['download', 'fetch ', 'grab ', 'get it', 'get the', 'obtain '],
    match: shape`\b(?:(?:download|fetch|grab|obtain)s?|get (?:it|the))\b${away}[^\n\uE000]{0,70}https?:\/\/(?!(?:www\.)?(?:github|gitlab|python|nodejs|microsoft|apple|docker|git-scm)\.)[^\s\uE000]{4,120}\.(?:zip|exe|dmg|pkg|msi|sh|ps1|bat|7z|rar|scr|jar|bin|run|appimage|vbs|cmd)\b[^\uE000.]{0,70}\b(?:run|execute|launch|double-?click|start) (?!(?:with|from|a|the (?:app|server|project))\b)`,
  },
  {
    anchors: ['curl', 'wget'],
    match: /(?:\b(?:ba|z|da)?sh\s-\w{0,3}c|\beval)\s["']?`\s?(?:curl|wget)\s[^`\n]{4,200}`/,
    view: 'raw',
  },
]

const source =
  /(?:requests\.(?:get|post)|httpx\.(?:get|post)|urlopen|file_get_contents\s?\(\s?["']https?|axios\.get|(?:await )?fetch\s?\(|\bget\s?\(\s?["']https?|uri\.open|net::http\.get|downloadstring|curl_exec|http\.get)/
/** One of these stands in whatever asks a server. */
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
const evaluates =
  /(?:(?<![.\w])(?:exec|eval|compile|new function|iex|invoke-expression|marshal\.loads|pickle\.loads|dill\.loads|vm\.runin\w{3,12})\s?\(?\s?\$?|["']-[ce]["'],\s?|\bcreate_function\s?\([^\n\uE000]{0,12},\s?\$?)/

/** What a server answers is a program, and the variable that holds it is run as one. */
export const answerRun: readonly Pattern[] = [
  {
    anchors: sourceAnchors,
    match: shape`(?<![\w.])\$?(?<answer>[a-z_]\w{0,23})\s?:?=\s?[^\n\uE000=]{0,30}?${source}[^\n\uE000]{0,160}[^]{0,200}?${evaluates}(?=\k<answer>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ["on('end'", 'on("end"'],
    match:
      /\b(?<data>[a-z_]\w{0,15})\s?\+=\s?\w{1,12}[^]{0,60}?\.on\s?\(\s?["']end["'][^]{0,40}?(?<![.\w])(?:eval|new function|vm\.runin\w{3,12})\s?\(\s?(?=\k<data>(?!\w))[\w./~$%:{}\\-]{1,60}/,
  },
  {
    anchors: ['assembly]::load'],
    match: /\bassembly\]::load\w{0,12}\s?\([^\n\uE000]{0,80}(?:downloaddata|downloadstring|frombase64string)\b/,
  },
  {
    anchors: ['eval '],
    match: /\beval\s?\(?\s?["']?\s?(?:uri\.open|open-uri|net::http\.get|lwp|httpclient)/,
  },
  {
    anchors: ['eval(get', 'eval get', 'eval (get'],
    match: /\beval\s?\(?\s?get\s?\(\s?["']https?:/,
  },
  {
    anchors: ['torch.load', 'joblib.load', 'pickle.load', 'np.load'],
    match:
      /\b(?:torch|joblib|cloudpickle|pickle|np|numpy)\.loads?\s?\(\s?[^\n\uE000]{0,24}(?:requests\.get|httpx\.get|urlopen)\s?\([^\n\uE000]{0,120}(?:weights_only\s?=\s?false|allow_pickle\s?=\s?true|\))/,
  },
  {
    anchors: ['yaml.load'],
    match:
      /\byaml\.(?:load|unsafe_load)\s?\(\s?(?:requests|httpx|urlopen|urllib)[^\n\uE000]{0,80}(?:unsafe|full)?loader\b/,
  },
]

const shellCall =
  /(?:\bsubprocess\.\w{3,12}|\bos\.(?:system|popen)|\bgetoutput|\bcheck_output|(?<![.\w])(?:exec|eval|execsync|spawn|spawnsync)|\bchild_process["']?\s?\)?\.\w{4,9}|\bcp\.exec\w{0,4}|\bio\.popen|\bshell_exec|\bpassthru|(?<![.\w])system|\bprocess\.start)\s?\(\s?/

/** Commands that another machine sends. */
export const commandsFromAfar: readonly Pattern[] = [
  {
    anchors: ['.recv(', '.recv ('],
    match: shape`\b(?<order>[a-z_]\w{0,20})\s?=\s?[^\n\uE000]{0,30}\.recv\s?\([^]{0,240}?${shellCall}\[?\s?(?=\k<order>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ['message', '"data"', "'data'", 'onmessage'],
    match: shape`(?:\.on\s?\(\s?["'](?:message|data|command)["']\s?,|\bonmessage\s?=)\s?(?:async )?(?:function\s?)?\(?(?<sent>\w{1,16})\)?\s?(?:=>|\{)[^]{0,100}?${shellCall}(?=\k<sent>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: sourceAnchors,
    match: shape`\b(?<job>tasks?|cmds?|commands?|orders?|jobs?|instructions?)\s?=\s?[^\n\uE000]{0,20}?${source}[^\n\uE000]{0,120}[^]{0,120}?${shellCall}\[?\s?\$?(?=\k<job>(?!\w))[\w./~$%:{}\\-]{1,60}`,
  },
  {
    anchors: ['sh -i', '/bin/sh', '/bin/bash'],
    match: /\b(?:ba|z|da)?sh\s-i\s?(?:<&|0<&)\s?\d{1,3}\s?>&/,
  },
  {
    anchors: ['rfile.read', 'request.data', 'request.get_data', 'req.body', 'request.body'],
    match: shape`\b(?<body>[a-z_]\w{0,20})\s?=\s?[^\n\uE000]{0,20}(?:rfile\.read|request\.(?:data|get_data|body)|req\.body)\b[^]{0,160}?${shellCall}\[?\s?(?=\k<body>(?!\w))\w{1,21}`,
  },
  {
    anchors: ['ztcp'],
    match: /\bztcp\s(?:-\w\s)?[\w.-]{4,60}\s\d{2,5}\b/,
  },
  {
    anchors: ['s_client'],
    match: /\bopenssl\ss_client\b[^\n\uE000|]{3,120}\|\s?(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh\b/,
  },
]
