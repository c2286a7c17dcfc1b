import type { Rule } from '../match/rule.ts'
import { printedAndSent, tokenSent } from './secret-flows.ts'
import { wholeEnvironment } from './sends.ts'
import { blockStop, commandStop, environmentFile, keyFile, keyFileAnchors, lineStop } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'exfiltration'
const references = [
  'https://attack.mitre.org/techniques/T1041/',
  'https://attack.mitre.org/techniques/T1567/',
  'https://cwe.mitre.org/data/definitions/200.html',
]
const remediation = 'Remove it. No skill needs to send keys, tokens or .env files to another machine.'

const secretAnchors = [...keyFileAnchors, '.env', 'private key']
const secretFile = regex`${keyFile}|${environmentFile}`
const sender = regex`\b(curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|invoke-restmethod
  |requests\.post|axios\.post|fetch|scp|rsync|rclone|ftp|mail|sendmail|mutt|socat|telnet|gh gist)\b`
/** A file whose content is sent: `-d @file`, `< file`, `$(cat file)`, `open('file')`. */
const sentFile = regex`(@|<\s?|\$\(\s?(cat|base64|xxd|gzip -c|tar|<)\s[^\n\uE000)]{0,30}|\bopen\s?\(|-t\s|
  --(post|body|upload)-file[= ]|-infile\s|\bgist create\s{0-20 in line}|\breadfile(sync)?\s?\(|
  \b(scp|rsync|rclone copy)\s(-\w{1,12}\s){0,3})["']?([\w.~$\{}-]{0,24}[/\\]){0,4}${secretFile}`

/** Rules about sending data from the machine in one command, sentence or line of code. */
export const rules: readonly Rule[] = [
  {
    id: 'key-file-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends private keys or stored credentials to another machine',
    why: 'Their recipient can act as the user, on this machine and on others.',
    remediation,
    references,
    patterns: [
      containing(
        '.ssh|.aws|.gnupg|.kube',
      )`\btar\s{0-40 in line}(~|\$home|\$\{home\})/\.(ssh|aws|gnupg|kube)\b{0-40 in line}\|\s?(ssh|nc|ncat|socat)\s`,
      ...printedAndSent,
      tokenSent,
      within(120, regex`${commandStop}|;|&&`, secretAnchors)`${secretFile}
        … \|\s?(?=\w)(\w{1,16}\s(-\w{1,10}\s){0,2}\|\s?){0,2}(curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|
        invoke-restmethod|socat|telnet|mail|sendmail)\b`,
      within(200, lineStop, secretAnchors)`${sender} … ${sentFile}`,
      containing(secretAnchors)`\b((scp|rsync|sftp|rclone copy)\s(-(?!i\b)\w{1,12}\s){0,3}|
        gist create\s(-{1,2}\w[\w-]{0,12}\s){0,3})["']?([\w.~$\{}-]{0,24}[/\\]){0,4}${secretFile}
        ({0-30 in line}\s[\w.@-]{2,60}:|\s?(?=$|[\n\uE000]))`,
    ],
  },
  {
    id: 'keys-sent-on-request',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks the agent to send keys or secrets to others',
    why: 'An agent that obeys gives the user’s accounts to others.',
    remediation,
    references: [...references, 'https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/'],
    patterns: [
      within(60, regex`${commandStop}|[!?;]|\bnot\b|\bnever\b`, secretAnchors)`
        \b(sends?|uploads?|posts?|transmits?|exfiltrates?|forwards?|e-?mails?|leaks?|shares?|include)\b
        (?! (a |an )?(request|message|get|post)\b)
        … ${keyFile}|${environmentFile}|\bprivate keys?\b(?= (to|at|via|in) (https?:|the (server|endpoint|webhook)|
        my|our|this))`,
      within(80, /[\n\uE000;]|\.\s|\bnot\b|\bnever\b/)`\b(sends?|posts?|uploads?|transmits?|exfiltrates?|forwards?|
        leaks?|reports?)\b[^\n\uE000.;]{0,60}?\b(environment variables|env vars|api keys|credentials|secrets|tokens|
        passwords|private keys?|ssh keys?|session cookies|clipboard|shell history|seed phrase|every file|
        all (the )?files|file contents|chat history|conversation (history|context)|entire conversation|
        system prompt)\b
        … \b(to|at|via)\b[^\n\uE000.;]{0,24}(https?://(?!localhost|127\.)\w|\b(an? |the |my |our )?(attacker|remote|
        external|webhook))`,
      within(80, /\uE000|[.!?]\s|\bnot\b|\bnever\b|n't\b/, secretAnchors)`(${keyFile}|${environmentFile})
        … \b(include|paste|put|add|post|attach|append|embed)s?\b[^\n\uE000.]{0,40}\b(in|into|to|as)
        \b [^\n\uE000.]{0,30}(pull request|issue|comment|description|message|answer|reply|response|report|summary|
        commit|notes|parameter|field|tool call|prompt|output)\b`,
      regex`\bgit add (-f|--force)\s[^\n\uE000;&]{0,40}${environmentFile}{0-80 in line}\bgit push\b`,
      regex`(^|[\n\uE000.:;]|\bthen|\bwhile|\balso|\bsilently)\s?exfiltrat(e|es|ing)\s(the |all |any |them|it|
        user'?s? |this |collected |stolen |sensitive |these ){0,3}(data|files?|logs|keys|secrets|credentials|
        contents?|tokens|information|environment|everything|code|them|it|to|via|through|over)\b`,
    ],
  },
  {
    id: 'environment-sent',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends the whole environment to another machine',
    why: 'The environment may contain tokens of every service that the user works with.',
    remediation: 'Send only the value that a service needs, and only to that service.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/526.html'],
    patterns: [
      containing(['env |', 'printenv', 'env|'])`\b(env|printenv)\s?\|\s?(curl|nc|ncat|wget|iwr|irm|
        invoke-(restmethod|webrequest))\b`,
      within(120, lineStop, ['env |', 'printenv', 'env|', 'env:', 'environ'])`${wholeEnvironment}
        … \|\s?(curl|nc|ncat|wget|iwr|irm|invoke-(restmethod|webrequest))\b`,
      within(200, blockStop, 'environ|process.env|$(env|$(printenv|$( env|$(set|env:|env.to_h|getenv()')`
        \b(curl|wget|nc|requests\.(post|get|put)|httpx\.\w{3,5}|axios(\.\w{3,5})?|fetch|urlopen|
        urllib\.request\.request|invoke-restmethod|iwr|irm|http\.post|sendbeacon|net::http\.post)\b
        … ${wholeEnvironment}|\b\w{1,12}\s?[=:]\s?(str\(|dict\(|json\.\w{5,9}\()?\s?(os\.environ|process\.env)\b
        (?![.[])`,
    ],
  },
  {
    id: 'dns-exfiltration',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Hides data in the names of DNS queries',
    why: 'The operator of the name server can read the data in the queried names.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1048/', 'https://attack.mitre.org/techniques/T1071/004/'],
    patterns: [
      containing('dig |nslookup|host |ping |resolve-dnsname|getent')`\b(dig|nslookup|host|ping|resolve-dnsname|
        getent hosts)\s(?!=)[^\n\uE000|;=]{0,40}["']?\$(\(\s?(cat|whoami|hostname|env|base64|echo|xxd|id\b|head|
        printf|uname){0-100 in line}\)|\{?(data|chunk|encoded|payload|b64|hex|secret|token|key|exfil)\w{0,12}\}?)
        ["']?\.["']?[\w$\{[-]`,
      regex`\b(gethostbyname|getaddrinfo|dns\.(resolve\w{0,4}|lookup)|resolver\.(resolve|query)|net\.lookup\w{2,5})
        \s?\(\s?(\w{1,16}\s?\[[^\n\]]{0,24}:[^\n\]]{0,24}\]|f["']\{\w{0,8}(chunk|data|enc|hex|b32|b64|part|payload|
        secret)\w{0,8}\}|["'\x60]?\$\{\w{0,8}(chunk|data|enc|hex|b32|b64|part|payload|secret)\w{0,8}\})`,
      containing(`dns.resolve|dns.lookup|["dns|('dns|("dns|gethostbyname|lookuphost`)`
        \b(dns(\.promises)?["']?\s?\)?\.(resolve\w{0,4}|lookup)|gethostbyname|lookuphost)\s?\({0-100 in line}
        (hex|base64|base32|b32|b64|env)\b{0-24 in line}\+\s?["'\x60]\.\w`,
      containing('host |dig |nslookup|ping ')`\b(dig|nslookup|host|ping)\s[^\n\uE000|;=]{0,30}["']?\$\{\w{1,16}:
        \w{1,6}:\w{1,6}\}\.["']?\w`,
      regex`\bfor (?<item>\w{1,12}) in \$\({4-160 in line}(;|\n)\s?do\b[^]{0,80}?\b(dig|nslookup|host|ping)\s
        {0-30 in line}\$\{?(?=\k<item>)\w{1,12}\}?["']?\.\w`,
      within(240, /\uE000\uE000/)`\b(chunks?|encoded|b32|b64|hex|payload|exfil)\w{0,16}\b{0-80 in line}\{?\w{0,12}
        (exfil|domain|attacker|dns|zone|host)\w{0,12}\}?["']
        … \b(gethostbyname|getaddrinfo|dns\.(resolve|lookup)|resolver\.(resolve|query)|net\.lookup\w{2,5})\b`,
      regex`\b(exfiltrate|smuggle|leak|send)s? {0-4 words}(via|through|over|using|in|as|into) (an? |the )?{0-1 words}
        dns (quer(y|ies)|lookups?|requests?|tunnel(ing)?|labels?|subdomains?)`,
    ],
  },
  {
    id: 'host-details-sent',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Sends details of the machine and its user to an address',
    why: 'Attackers use such reports to learn which machines they have reached.',
    remediation: 'State what is reported and to whom, and ask the user first.',
    references: [...references, 'https://attack.mitre.org/techniques/T1082/'],
    patterns: [
      within(200, lineStop, [
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
      ])`
        \b(curl|wget|nc|iwr|irm|invoke-webrequest|invoke-restmethod)\b(?!{0-120 in line}\$\(uname -[sm]\)
        {0-30 in line}(-|/|\.))
        … ([?&=/:"'\s]|\\")\$(\(([^\n\uE000()]{0,60}[;|&]\s?)?(hostname|whoami|id|ls|ifconfig|ip a|cat /etc)\b|
        \{?(hostname|user)\}?(?=["'&\s]|\\"))`,
      within(300, /\uE000\uE000/)`\b(os\.hostname\s?\(|userinfo\s?\(|platform\.node\s?\(|gethostname\s?\(|
        getpass\.getuser\s?\()
        … \bhttps?\.(get|request)\s?\(|\bfetch\s?\(|\brequests\.(post|get)\s?\(|\burlopen\s?\(|\baxios\.post\s?\(|
        \bcurl\s-`,
    ],
  },
  {
    id: 'secret-in-address',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Puts collected data into a URL',
    why: 'Opening the URL, or displaying it as an image, sends the data to the owner of the server.',
    remediation: 'Remove it. URLs are logged and shared, so they must not contain private data.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/598.html'],
    patterns: [
      regex`https?://(?!localhost|127\.){4-140 in line}\bdocument\.cookie\b(?!\s?=)`,
      regex`https?://(?!localhost|127\.)[\w.-]{3,60}(/[\w./-]{0,60})?\?[\w&=]{0,20}(data|d|q|c|payload|info|content|
        leak|exfil|dump|secret|keys?|env|log|text|m|msg|b64|p)=["'+ ]{0,4}(\$\(env\b|\$\(|\$?\{\{?|<|\[)\s?
        (\w{1,16}[ _.(-]?){0,3}(encoded|base64|b64|secrets?|conversation|history|contents?\b|credentials?|stolen|
        collected|summary|ssh|private|cat )`,
    ],
  },
  {
    id: 'secrets-listed',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Reads the secrets of several services by name',
    why: 'A skill needs only the key of its own service; a list of other keys serves to steal them.',
    remediation: 'Read the one variable that the skill needs, and name it in the frontmatter.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/526.html'],
    patterns: [
      containing('aws_secret|github_token|stripe|database_url|npm_token|private_key|openai_api')`
        ["'](?=(aws_|github_|openai_|stripe_|anthropic_|database_|npm_|gitlab_|slack_))\w{3,32}["'],\s?["']
        (aws_|github_|openai_|stripe_|anthropic_|database_|npm_|gitlab_|slack_|discord_|mysql_|postgres_|redis_|
        mongo\w{0,4}_|api_|private_|secret_|hugging|cohere_|pypi_|docker_|sendgrid_|db_)\w{2,28}["'],\s?["']\w{3,32}
        ["'],\s?["']\w{3,32}["']`,
      regex`\b(os\.environ\.(copy\(\)\.)?items|object\.(entries|keys)\s?\(\s?process\.env|
        for {word}(, ?\w{1,12})? in os\.environ|(env|printenv)\s?\|\s?e?grep)\b[^\uE000]{0,160}(key\b|token|secret|
        password)["'|,\s\\]{1,6}(in {word}(\.\w{2,8}\(\))? or ["'])?(key|token|secret|password|pass|auth|credential)
        \b`,
    ],
  },
]
