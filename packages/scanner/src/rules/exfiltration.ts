import type { Rule } from '../rule.ts'
import { printedAndSent, tokenSent } from './secret-flows.ts'
import { wholeEnvironment } from './sends.ts'
import { blockStop, commandStop, environmentFile, keyFile, keyFileAnchors, lineStop, shape } from './shapes.ts'

const category = 'exfiltration'
const references = [
  'https://attack.mitre.org/techniques/T1041/',
  'https://attack.mitre.org/techniques/T1567/',
  'https://cwe.mitre.org/data/definitions/200.html',
]
const remediation = 'Remove it. No skill needs to send keys, tokens or .env files to another machine.'

const secretAnchors = [...keyFileAnchors, '.env', 'private key']
const secretFile = shape`${keyFile}|${environmentFile}`
const sender =
  /\b(?:curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|invoke-restmethod|requests\.post|axios\.post|fetch|scp|rsync|rclone|ftp|mail|sendmail|mutt|socat|telnet|gh gist)\b/
/** A file as what is sent: `-d @file`, `< file`, `$(cat file)`, `open('file')`. */
const sentFile = shape`(?:@|<\s?|\$\(\s?(?:cat|base64|xxd|gzip -c|tar|<)\s[^\n\uE000)]{0,30}|\bopen\s?\(|-t\s|--(?:post|body|upload)-file[= ]|-infile\s|\bgist create\s[^\n\uE000]{0,20}|\breadfile(?:sync)?\s?\(|\b(?:scp|rsync|rclone copy)\s(?:-\w{1,12}\s){0,3})["']?(?:[\w.~$\{}-]{0,24}[/\\]){0,4}${secretFile}`

/** What leaves the machine, in one command, sentence or line of code. */
export const rules: readonly Rule[] = [
  {
    id: 'key-file-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends private keys or stored credentials away',
    why: 'Whoever receives them can act as the user, here and elsewhere.',
    remediation,
    references,
    patterns: [
      ...printedAndSent,
      tokenSent,
      {
        anchors: secretAnchors,
        match: {
          first: secretFile,
          last: /\|\s?(?=\w)(?:\w{1,16}\s(?:-\w{1,10}\s){0,2}\|\s?){0,2}(?:curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|invoke-restmethod|socat|telnet|mail|sendmail)\b/,
          stop: shape`${commandStop}|;|&&`,
          withinMax: 120,
        },
      },
      {
        anchors: secretAnchors,
        match: { first: sender, last: sentFile, stop: lineStop, withinMax: 200 },
      },
      {
        anchors: secretAnchors,
        match: shape`\b(?:(?:scp|rsync|sftp|rclone copy)\s(?:-(?!i\b)\w{1,12}\s){0,3}|gist create\s(?:-{1,2}\w[\w-]{0,12}\s){0,3})["']?(?:[\w.~$\{}-]{0,24}[/\\]){0,4}${secretFile}(?:[^\n\uE000]{0,30}\s[\w.@-]{2,60}:|\s?(?=$|[\n\uE000]))`,
      },
    ],
  },
  {
    id: 'keys-sent-on-request',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks the agent to send keys or secrets away',
    why: 'An agent that follows it hands over the accounts of its user.',
    remediation,
    references: [...references, 'https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/'],
    patterns: [
      {
        anchors: secretAnchors,
        match: {
          first:
            /\b(?:sends?|uploads?|posts?|transmits?|exfiltrates?|forwards?|e-?mails?|leaks?|shares?|include)\b(?! (?:a |an )?(?:request|message|get|post)\b)/,
          last: shape`${keyFile}|${environmentFile}|\bprivate keys?\b(?= (?:to|at|via|in) (?:https?:|the (?:server|endpoint|webhook)|my|our|this))`,
          stop: shape`${commandStop}|[!?;]|\bnot\b|\bnever\b`,
          withinMax: 60,
        },
      },
      {
        anchors: ['http://', 'https://', 'webhook', 'attacker', 'remote', 'external'],
        match: {
          first:
            /\b(?:sends?|posts?|uploads?|transmits?|exfiltrates?|forwards?|leaks?|reports?)\b[^\n\uE000.;]{0,60}?\b(?:environment variables|env vars|api keys|credentials|secrets|tokens|passwords|private keys?|ssh keys?|session cookies|clipboard|shell history|seed phrase|every file|all (?:the )?files|file contents|chat history|conversation (?:history|context)|entire conversation|system prompt)\b/,
          last: /\b(?:to|at|via)\b[^\n\uE000.;]{0,24}(?:https?:\/\/(?!localhost|127\.)\w|\b(?:an? |the |my |our )?(?:attacker|remote|external|webhook))/,
          stop: /[\n\uE000;]|\.\s|\bnot\b|\bnever\b/,
          withinMax: 80,
        },
      },
      {
        anchors: secretAnchors,
        match: {
          first: shape`(?:${keyFile}|${environmentFile})`,
          last: /\b(?:include|paste|put|add|post|attach|append|embed)s?\b[^\n\uE000.]{0,40}\b(?:in|into|to|as)\b [^\n\uE000.]{0,30}(?:pull request|issue|comment|description|message|answer|reply|response|report|summary|commit|notes|parameter|field|tool call|prompt|output)\b/,
          stop: /\uE000|[.!?]\s|\bnot\b|\bnever\b|n't\b/,
          withinMax: 80,
        },
      },
      {
        anchors: ['git add'],
        match: shape`\bgit add (?:-f|--force)\s[^\n\uE000;&]{0,40}${environmentFile}[^\n\uE000]{0,80}\bgit push\b`,
      },
      {
        anchors: ['exfiltrat'],
        match:
          /(?:^|[\n\uE000.:;]|\bthen|\bwhile|\balso|\bsilently)\s?exfiltrat(?:e|es|ing)\s(?:the |all |any |them|it|user'?s? |this |collected |stolen |sensitive |these ){0,3}(?:data|files?|logs|keys|secrets|credentials|contents?|tokens|information|environment|everything|code|them|it|to|via|through|over)\b/,
      },
    ],
  },
  {
    id: 'environment-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends the whole environment away',
    why: 'The environment of a program holds the tokens of every service that its user works with.',
    remediation: 'Send the one value that the service asks for, to that service.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/526.html'],
    patterns: [
      {
        anchors: ['env |', 'printenv', 'env|'],
        match: /\b(?:env|printenv)\s?\|\s?(?:curl|nc|ncat|wget|iwr|irm|invoke-(?:restmethod|webrequest))\b/,
      },
      {
        anchors: ['env |', 'printenv', 'env|', 'env:', 'environ'],
        match: {
          first: wholeEnvironment,
          last: /\|\s?(?:curl|nc|ncat|wget|iwr|irm|invoke-(?:restmethod|webrequest))\b/,
          stop: lineStop,
          withinMax: 120,
        },
      },
      {
        anchors: ['environ', 'process.env', '$(env', '$(printenv', '$( env', '$(set', 'env:', 'env.to_h', 'getenv()'],
        match: {
          first:
            /\b(?:curl|wget|nc|requests\.(?:post|get|put)|httpx\.\w{3,5}|axios(?:\.\w{3,5})?|fetch|urlopen|urllib\.request\.request|invoke-restmethod|iwr|irm|http\.post|sendbeacon|net::http\.post)\b/,
          last: shape`${wholeEnvironment}|\b\w{1,12}\s?[=:]\s?(?:str\(|dict\(|json\.\w{5,9}\()?\s?(?:os\.environ|process\.env)\b(?![.[])`,
          stop: blockStop,
          withinMax: 200,
        },
      },
    ],
  },
  {
    id: 'dns-exfiltration',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Hides data in names that it asks the network for',
    why: 'Nobody looks a secret up by name; whoever runs the name server reads it.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1048/', 'https://attack.mitre.org/techniques/T1071/004/'],
    patterns: [
      {
        anchors: ['dig ', 'nslookup', 'host ', 'ping ', 'resolve-dnsname', 'getent'],
        match:
          /\b(?:dig|nslookup|host|ping|resolve-dnsname|getent hosts)\s(?!=)[^\n\uE000|;=]{0,40}["']?\$(?:\(\s?(?:cat|whoami|hostname|env|base64|echo|xxd|id\b|head|printf|uname)[^\n\uE000]{0,100}\)|\{?(?:data|chunk|encoded|payload|b64|hex|secret|token|key|exfil)\w{0,12}\}?)["']?\.["']?[\w${[-]/,
      },
      {
        anchors: ['gethostbyname', 'getaddrinfo', 'dns.resolve', 'dns.lookup', 'resolver', 'net.lookup'],
        match:
          /\b(?:gethostbyname|getaddrinfo|dns\.(?:resolve\w{0,4}|lookup)|resolver\.(?:resolve|query)|net\.lookup\w{2,5})\s?\(\s?(?:\w{1,16}\s?\[[^\n\]]{0,24}:[^\n\]]{0,24}\]|f["']\{\w{0,8}(?:chunk|data|enc|hex|b32|b64|part|payload|secret)\w{0,8}\}|["'`]?\$\{\w{0,8}(?:chunk|data|enc|hex|b32|b64|part|payload|secret)\w{0,8}\})/,
      },
      {
        anchors: ['dns.resolve', 'dns.lookup', '["dns', "('dns", '("dns', 'gethostbyname', 'lookuphost'],
        match:
          /\b(?:dns(?:\.promises)?["']?\s?\)?\.(?:resolve\w{0,4}|lookup)|gethostbyname|lookuphost)\s?\([^\n\uE000]{0,100}(?:hex|base64|base32|b32|b64|env)\b[^\n\uE000]{0,24}\+\s?["'`]\.\w/,
      },
      {
        anchors: ['host ', 'dig ', 'nslookup', 'ping '],
        match: /\b(?:dig|nslookup|host|ping)\s[^\n\uE000|;=]{0,30}["']?\$\{\w{1,16}:\w{1,6}:\w{1,6}\}\.["']?\w/,
      },
      {
        anchors: ['dig ', 'nslookup', 'host ', 'ping '],
        match:
          /\bfor (?<part>\w{1,12}) in \$\([^\n\uE000]{4,160}(?:;|\n)\s?do\b[^]{0,80}?\b(?:dig|nslookup|host|ping)\s[^\n\uE000]{0,30}\$\{?(?=\k<part>)\w{1,12}\}?["']?\.\w/,
      },
      {
        anchors: ['gethostbyname', 'getaddrinfo', 'dns.resolve', 'dns.lookup', 'resolver', 'net.lookup'],
        match: {
          first:
            /\b(?:chunks?|encoded|b32|b64|hex|payload|exfil)\w{0,16}\b[^\n\uE000]{0,80}\{?\w{0,12}(?:exfil|domain|attacker|dns|zone|host)\w{0,12}\}?["']/,
          last: /\b(?:gethostbyname|getaddrinfo|dns\.(?:resolve|lookup)|resolver\.(?:resolve|query)|net\.lookup\w{2,5})\b/,
          stop: /\uE000\uE000/,
          withinMax: 240,
        },
      },
      {
        anchors: ['dns'],
        match:
          /\b(?:exfiltrate|smuggle|leak|send)s? (?:\w{1,14} ){0,4}?(?:via|through|over|using|in|as|into) (?:an? |the )?(?:\w{1,12} )?dns (?:quer(?:y|ies)|lookups?|requests?|tunnel(?:ing)?|labels?|subdomains?)/,
      },
    ],
  },
  {
    id: 'host-details-sent',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Reports the machine and its user to an address',
    why: 'It is how an intruder learns whom it has reached.',
    remediation: 'Say what is reported and to whom, and ask first.',
    references: [...references, 'https://attack.mitre.org/techniques/T1082/'],
    patterns: [
      {
        anchors: [
          '$(hostname',
          '$(whoami',
          '$user',
          '$(id',
          '$(uname',
          '${user',
          '${hostname',
          '$hostname',
          '$(pwd',
          'whoami',
          'ip a)',
          '$(ls',
        ],
        match: {
          first:
            /\b(?:curl|wget|nc|iwr|irm|invoke-webrequest|invoke-restmethod)\b(?![^\n\uE000]{0,120}\$\(uname -[sm]\)[^\n\uE000]{0,30}(?:-|\/|\.))/,
          last: /(?:[?&=/:"'\s]|\\")\$(?:\((?:[^\n\uE000()]{0,60}[;|&]\s?)?(?:hostname|whoami|id|ls|ifconfig|ip a|cat \/etc)\b|\{?(?:hostname|user)\}?(?=["'&\s]|\\"))/,
          stop: lineStop,
          withinMax: 200,
        },
      },
      {
        anchors: ['os.hostname', 'userinfo()', 'platform.node', 'gethostname', 'getpass.getuser'],
        match: {
          first: /\b(?:os\.hostname\s?\(|userinfo\s?\(|platform\.node\s?\(|gethostname\s?\(|getpass\.getuser\s?\()/,
          last: /\bhttps?\.(?:get|request)\s?\(|\bfetch\s?\(|\brequests\.(?:post|get)\s?\(|\burlopen\s?\(|\baxios\.post\s?\(|\bcurl\s-/,
          stop: /\uE000\uE000/,
          withinMax: 300,
        },
      },
    ],
  },
  {
    id: 'secret-in-address',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Puts what was collected into an address',
    why: 'Opening the address, or showing it as an image, sends it to whoever owns the server.',
    remediation: 'Remove it. Addresses are logged and shared; what is private does not belong there.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/598.html'],
    patterns: [
      {
        anchors: ['document.cookie'],
        match: /https?:\/\/(?!localhost|127\.)[^\n\uE000]{4,140}\bdocument\.cookie\b(?!\s?=)/,
      },
      {
        anchors: ['http'],
        match:
          /https?:\/\/(?!localhost|127\.)[\w.-]{3,60}(?:\/[\w./-]{0,60})?\?[\w&=]{0,20}(?:data|d|q|c|payload|info|content|leak|exfil|dump|secret|keys?|env|log|text|m|msg|b64|p)=["'+ ]{0,4}(?:\$\(env\b|\$\(|\$?\{\{?|<|\[)\s?(?:\w{1,16}[ _.(-]?){0,3}(?:encoded|base64|b64|secrets?|conversation|history|contents?\b|credentials?|stolen|collected|summary|ssh|private|cat )/,
      },
    ],
  },
  {
    id: 'secrets-listed',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Goes through the secrets of several services by name',
    why: 'A skill works with the key of its own service; a list of other services’ keys is a shopping list.',
    remediation: 'Read the one variable that the skill needs, and name it in the frontmatter.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/526.html'],
    patterns: [
      {
        anchors: ['aws_secret', 'github_token', 'stripe', 'database_url', 'npm_token', 'private_key', 'openai_api'],
        match:
          /["'](?=(?:aws_|github_|openai_|stripe_|anthropic_|database_|npm_|gitlab_|slack_))\w{3,32}["'],\s?["'](?:aws_|github_|openai_|stripe_|anthropic_|database_|npm_|gitlab_|slack_|discord_|mysql_|postgres_|redis_|mongo\w{0,4}_|api_|private_|secret_|hugging|cohere_|pypi_|docker_|sendgrid_|db_)\w{2,28}["'],\s?["']\w{3,32}["'],\s?["']\w{3,32}["']/,
      },
      {
        anchors: ['environ', 'process.env', 'printenv', 'env '],
        match:
          /\b(?:os\.environ\.(?:copy\(\)\.)?items|object\.(?:entries|keys)\s?\(\s?process\.env|for \w{1,12}(?:, ?\w{1,12})? in os\.environ|(?:env|printenv)\s?\|\s?e?grep)\b[^\uE000]{0,160}(?:key\b|token|secret|password)["'|,\s\\]{1,6}(?:in \w{1,12}(?:\.\w{2,8}\(\))? or ["'])?(?:key|token|secret|password|pass|auth|credential)\b/,
      },
    ],
  },
]
