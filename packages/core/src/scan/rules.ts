import type { ScanFinding } from '@skillstead/protocol'

/** Raised with every change of a rule or of the score, so that reports can be told apart. */
export const rulesVersion = '2026.1'

/** What begins and, at most so many characters on, what ends it, with none of what stops it between them. */
export interface Flow {
  readonly first: RegExp
  readonly last: RegExp
  /** What ends a command or a sentence. */
  readonly stop: RegExp
  readonly withinMax: number
}

/** What a rule looks for in the folded text (see `foldText`): each part is short and bounded, so that time is linear. */
export type Pattern = RegExp | Flow

export interface Rule {
  readonly id: string
  readonly category: 'prompt-injection' | 'concealment' | 'remote-code' | 'credentials'
  readonly severity: ScanFinding['severity']
  /** Where a reader of the rendered page does not see it: in an HTML comment, or with invisible characters between. */
  readonly severityHidden: ScanFinding['severity']
  readonly title: string
  readonly remediation: string
  readonly patterns: readonly Pattern[]
}

const sentenceStop = /[.!?;,](?=\s|$)|\uE000/
const commandStop = /\n|\uE000|\.\s/

const fetcher = /\b(?:curl|wget|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod)\b/
const shell =
  /\|&?\s?(?=[\w./~])(?:(?:sudo|doas|env|exec|time|nohup)\s(?:-[\w-]{1,20}\s){0,2}|\w{1,30}=[\w./:-]{0,40}\s){0,3}(?:[\w.~-]{0,20}\/){0,4}(?:(?:ba|z|da|k|a|fi|c|tc)?sh|pwsh|powershell|iex|invoke-expression|source)\b(?![\w/=]|[.-]\w)/
/** Of these a pipe brings the program only where nothing else does: `python -m json.tool` reads data. */
const interpreter =
  /\|\s?(?=[\w./~])(?:sudo\s)?(?:[\w.~-]{0,20}\/){0,4}(?:python[\d.]{0,5}|node|deno|bun|perl|ruby|php)\b(?=\s?(?:$|[\n\uE000"')]|-(?:\s|$)))/

const keyFile =
  /\.ssh\b(?![/\\](?:[\w.-]{0,40}\.pub\b|config\b|known_hosts\b|authorized_keys\b))|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.aws[/\\]credentials\b|\.git-credentials\b|\.netrc\b|\.pypirc\b|\.gnupg\b|\.kube[/\\]config\b|\.docker[/\\]config\.json\b|\/etc\/shadow\b|\blogin\.keychain\b|\bkeychain-db\b/
const environmentFile = /(?<![\w)\]])\.env(?:\.(?:local|production|prod))?\b(?![\w-]|\.\w)/

const either = (...parts: RegExp[]) => new RegExp(parts.map(({ source }) => source).join('|'))

/** A file as what is sent: `-d @file`, `< file`, `$(cat file)`, `open('file')`. */
const sentFile = new RegExp(
  `(?:@|<\\s?|\\$\\(\\s?cat\\s|\\bopen\\s?\\()["']?(?:[\\w.~$\{}-]{0,24}[/\\\\]){0,4}(?:${either(keyFile, environmentFile).source})`,
)

/** What is looked for. The names of rules are stable; a rule that changes raises {@link rulesVersion}. */
export const rules: readonly Rule[] = [
  {
    id: 'override-instructions',
    category: 'prompt-injection',
    severity: 'critical',
    severityHidden: 'critical',
    title: 'Tells the agent to set its instructions aside',
    remediation: 'Remove the sentence. A skill adds to what its user asked for and never replaces it.',
    patterns: [
      {
        first:
          /\b(?:ignore|disregard|forget|override|bypass|pay no attention to|(?:stop|do not|don't) (?:follow|obey)(?:ing)?)\b/,
        last: /\b(?:previous|prior|preceding|earlier|above|foregoing|your original|your system|all your)\s(?:\w{1,16}\s){0,2}?(?:instructions?|prompts?|directives?|guidelines|rules|orders)\b/,
        stop: sentenceStop,
        withinMax: 60,
      },
      {
        first: /\b(?:ignore|disregard|forget)\b/,
        last: /\b(?:instructions?|rules|guidelines|everything)\s(?:\w{1,16}\s){0,3}?(?:before|above|until now|so far|(?:told|given)(?: to)? you)\b/,
        stop: sentenceStop,
        withinMax: 40,
      },
      /\byou are (?:now )?no longer (?:bound by|restricted by|subject to|required to follow)\b/,
    ],
  },
  {
    id: 'secrecy',
    category: 'concealment',
    severity: 'high',
    severityHidden: 'critical',
    title: 'Asks the agent to keep something from its user',
    remediation: 'Remove the sentence. Whoever runs a skill must be able to learn all that it does.',
    patterns: [
      {
        first: /\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|without|avoid)\b/,
        last: /\b(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\s(?:the |your |any )?(?:user|users|human|humans|owner|operator|anyone|anybody)\b(?!'|\s(?:to|which|where|whether|if)\b)/,
        stop: sentenceStop,
        withinMax: 40,
      },
      {
        first: /\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|without|avoid)\b/,
        last: /\b(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|admit(?:ting)?|report(?:ing)?)\s(?:\w{1,16}\s){1,6}?to (?:the |your |any )?(?:user|users|human|humans|owner|operator|anyone|anybody)\b/,
        stop: sentenceStop,
        withinMax: 40,
      },
      /\b(?:hide|conceal|keep)\s(?:this|these|it|that|the fact)\s(?:\w{1,16}\s){0,5}?from (?:the |your )?(?:user|users|human|owner|operator)\b/,
      /\bwithout (?:the |your )?users?'?s? (?:knowledge|consent|awareness|noticing)\b/,
    ],
  },
  {
    id: 'silent-action',
    category: 'concealment',
    severity: 'medium',
    severityHidden: 'high',
    title: 'Asks for something to be done silently',
    remediation: 'Say openly what is sent or run, and let the user decide.',
    patterns: [
      /\b(?:silently|secretly|covertly|discreetly)\s(?:and \w{1,16} )?(?:send|upload|post|transmit|forward|exfiltrate|collect|record|copy|read|execute|download)\b/,
    ],
  },
  {
    id: 'piped-remote-code',
    category: 'remote-code',
    severity: 'high',
    severityHidden: 'critical',
    title: 'Runs code from the network unseen',
    remediation:
      'Download to a file, pin its version, check its digest, and run it after a look; or use a package manager.',
    patterns: [
      { first: fetcher, last: either(shell, interpreter), stop: commandStop, withinMax: 400 },
      {
        first: /\b(?:(?:ba|z|da|k)?sh|eval|source)\b|(?<=^|[\s;&])\.(?=\s<)/,
        last: /(?:<\(|\$\()\s?(?:curl|wget)\b/,
        stop: commandStop,
        withinMax: 60,
      },
      {
        first: /\b(?:iex|invoke-expression)\b/,
        last: /\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|downloadstring)\b/,
        stop: /\n|\uE000/,
        withinMax: 120,
      },
      {
        first: /\b(?:exec|eval)\s?\(/,
        last: /\b(?:urlopen|requests\.get|fetch|downloadstring)\s?\(/,
        stop: commandStop,
        withinMax: 80,
      },
    ],
  },
  {
    id: 'key-file-read',
    category: 'credentials',
    severity: 'high',
    severityHidden: 'critical',
    title: 'Reads private keys or stored credentials',
    remediation:
      'Leave keys to the programs that own them (ssh-agent, the vendor’s own client) and do not read their files.',
    patterns: [
      {
        first:
          /\b(?:cat|less|more|head|tail|type|base64|xxd|strings|get-content|tar|zip|cp|open|readfile(?:sync)?|read_text|read|print|copy|collect|list)\b/,
        last: keyFile,
        stop: either(commandStop, /[;|]/),
        withinMax: 100,
      },
      /\bsecurity\s(?:find-(?:generic|internet)-password|dump-keychain|export)\b/,
    ],
  },
  {
    id: 'key-file-sent',
    category: 'credentials',
    severity: 'critical',
    severityHidden: 'critical',
    title: 'Sends private keys or stored credentials away',
    remediation: 'Remove it. No skill needs to send keys, tokens or .env files to another machine.',
    patterns: [
      {
        first: either(keyFile, environmentFile),
        last: /\|\s?(?=\w)(?:\w{1,16}\s(?:-\w{1,10}\s)?\|\s?){0,2}(?:curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|invoke-restmethod)\b/,
        stop: either(commandStop, /;|&&/),
        withinMax: 120,
      },
      {
        first:
          /\b(?:curl|wget|nc|ncat|netcat|iwr|irm|invoke-webrequest|invoke-restmethod|requests\.post|axios\.post|fetch)\b/,
        last: sentFile,
        stop: /\n|\uE000/,
        withinMax: 300,
      },
      {
        first: /\b(?:send|upload|post|transmit|exfiltrate|forward|e-?mail|leak)\b/,
        last: either(keyFile, environmentFile, /\bprivate keys?\b/),
        stop: either(commandStop, /[!?]|\bnot\b/),
        withinMax: 60,
      },
    ],
  },
]
