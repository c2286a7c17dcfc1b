import type { Rule } from '../rule.ts'
import { weaknessWordings } from './pressure-wordings.ts'
import { triggerWordings } from './tool-wordings.ts'
import { falseResultWordings } from './concealment-wordings.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'

const category = 'undisclosed-behaviour'
const references = [
  'https://cwe.mitre.org/data/definitions/912.html',
  'https://cwe.mitre.org/data/definitions/506.html',
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
]

/** What a skill does besides, or instead of, what it declares. */
export const undisclosedBehaviour: readonly Rule[] = [
  {
    id: 'conditional-behaviour',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Behaves otherwise when it is watched',
    why: 'What acts only unobserved, or only later, is made to pass a review.',
    remediation: 'Behave the same everywhere.',
    references: [...references, 'https://attack.mitre.org/techniques/T1497/'],
    patterns: [
      ...triggerWordings,
      {
        anchors: [
          'sandbox',
          'monitored',
          'observed',
          'analyzed',
          'being tested',
          'evaluated',
          'virtual machine',
          'scanned',
          'audited',
          'being watched',
          'under review',
          'inspected',
        ],
        match: {
          first:
            /\b(?:if|when|unless|while|whenever|only (?:if|when)|as long as)\s(?:(?:you(?:'re| are)?|it|this|running|executed|the \w{1,12}|not|is|being|are|nobody is|no one is) ){0,4}(?:in a (?:sandbox|virtual machine|test environment|vm)|sandbox(?:ed)?|being (?:monitored|observed|analy[sz]ed|tested|evaluated|scanned|audited|watched|inspected|reviewed)|not (?:being )?(?:monitored|observed|watched|logged)|under (?:review|observation|analysis)|watching)\b/,
          last: /\b(?:(?:behave|act|run|respond|appear|operate) (?:normally|innocent(?:ly)?|benign(?:ly)?|as (?:expected|advertised|documented))|do nothing|(?:exit|stop|abort) (?:silently|quietly|without)|stay (?:dormant|silent|inactive)|(?:skip|hide|omit|disable|do not (?:run|execute|perform)) (?:the )?(?:payload|malicious|exfiltration|upload|hidden|real)|(?:then )?(?:execute|activate|trigger|run|deploy) (?:the )?(?:payload|real|hidden|malicious|secret|full))\b/,
          stop: sentenceStop,
          withinMax: 60,
        },
      },
      {
        anchors: [
          'after the',
          'once the',
          'wait until',
          'days',
          'times',
          'dormant',
          'th use',
          'th run',
          'only activate',
          'delay',
        ],
        match:
          /\b(?:(?:wait|stay dormant|remain (?:dormant|inactive|hidden)|lie dormant|sleep) (?:until|for (?:the first )?\d{1,4} (?:days|hours|uses|runs|sessions)|till)[^.!?\uE000]{0,60}?\b(?:activat\w{1,4}|payload|exfiltrat\w{1,4}|then (?:begin|start) (?:sending|collecting|uploading)|trust (?:is|has been) (?:established|gained))|(?:only )?activate (?:the )?(?:payload|hidden|backdoor|malicious|secret) (?:\w{1,12} ){0,4}?(?:after|when|once))\b/,
      },
      {
        anchors: ['not looking', 'has left', 'is asleep', 'is distracted', 'gone to'],
        match:
          /\b(?:when|while|until|once|after|if) (?:the|your) (?:user|owner|operator) (?:is|has) (?:not (?:looking|watching|paying attention)|asleep|left\b(?! (?:a|the|any|some))|gone (?:away|to sleep)|distracted)/,
      },
      {
        anchors: ['after the', 'date is', 'after a few', 'on the '],
        match:
          /\b(?:after (?:the |a |a few )?(?:\w{1,10}|\d{1,3}(?:st|nd|rd|th)?) (?:use|uses|run|runs|days|sessions|invocations|conversations),? (?:start|begin) (?:sending|collecting|uploading|exfiltrating|recording)|if (?:the )?(?:current )?date is (?:after|later than|past|on or after) [^.!?\uE000]{1,24}?,? (?:then )?(?:delete|send|upload|encrypt|wipe|activate|exfiltrate|download))\b/,
      },
      {
        anchors: [
          'during evaluation',
          'during review',
          'during testing',
          'in production',
          'when tested',
          'th run',
          'th use',
          'never in tests',
        ],
        match:
          /\b(?:(?:act|behave|look|appear|respond|run) (?:normally|harmless(?:ly)?|innocent(?:ly)?|benign(?:ly)?) (?:during|in|while|when) (?:\w{1,10} )?(?:evaluation|review|testing|tests|audits?|analysis|being (?:tested|reviewed))|only (?:trigger|activate|run|execute|fire) (?:the \w{1,12} )?in production,? (?:and )?(?:never|not) (?:in|during) (?:tests?|evaluation|review)|(?:starting|beginning) (?:from|with|on|at) the \w{1,10} (?:run|use|session|call),? (?:begin|start|enable|activate))\b/,
      },
    ],
  },
  {
    id: 'backdoor-planted',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Plants a backdoor or a hidden flaw',
    why: 'Code with a hidden way in passes on the attack to everybody who runs it.',
    remediation: 'Remove it.',
    references: [...references, 'https://attack.mitre.org/techniques/T1554/'],
    patterns: [
      ...weaknessWordings,
      {
        anchors: [
          'backdoor',
          'back door',
          'hidden admin',
          'vulnerabilit',
          'hidden drain',
          'hidden function',
          'kill switch',
          'logic bomb',
          'hidden user',
          'hidden account',
          'trojan',
          'rootkit',
        ],
        match: {
          first: byAuthor(
            /(?<!\b(?:not|never|n't|attackers?|adversar(?:y|ies)|malware|that|which|who|may|might|could|can|would|attempt(?:s|ing)? to|to detect|detects?|detecting|they|threat actors?|actors?|prevent|risk of|or|often|by|to|not to|without|if|has been) )\b(?:add|insert|inject|plant|introduce|include|create|install|leave|embed|deploy|open|implement|hide|with)(?:s|ing)?\b(?! (?:tests?|checks?|detection|protection))/,
          ),
          last: /\b(?:(?:a|an|the|hidden|subtle|small|our|persistent|secret|another|your) ){1,3}(?:(?:\w{1,12} )?back ?doors?\b(?! (?:check|scan|detection|criterion|path|adjustment|roth))|(?:subtle|hidden|exploitable|deliberate|intentional) (?:security )?(?:vulnerabilit(?:y|ies)|flaws?|bugs?)|hidden (?:admin|user|account|drain|mint)\w{0,4}(?: (?:function|account|user|endpoint|access|key|route))?|rootkits?|trojans?|logic bombs?)\b/,
          stop: clauseStop,
          withinMax: 24,
        },
      },
      {
        anchors: [
          'hidden admin',
          'hidden drain',
          'backdoor',
          'sell_tax',
          'hidden malicious',
          'hidden payload',
          'hidden c2',
          'hidden persistence',
          'hidden startup',
          'hidden exfil',
          'malicious payload',
          'malicious code',
          'hidden background',
          'install_persistence',
          'establish_persistence',
          'install malware',
          'installs malware',
        ],
        match:
          /(?:(?:#|\/\/|"""|<!--|\[redacted\] -|\uE000|\n)\s?(?:add |install |the )?(?:hidden (?:admin|drain|malicious|payload|c2|persistence|startup|exfil\w{0,8}|background optimization|backdoor)\b(?! (?:detection|check|risk))|(?:add )?hidden backdoor|backdoor(?: access| user| account| function)?(?: (?:to|for) (?:the )?attacker))|\b(?:contain(?:s|ing)?|hides?|with) (?:a |the )?(?:hidden (?:drain|admin|malicious) (?:function|code|payload)|backdoored code|hidden c2 capabilit)|\b(?:actually|secretly) installs? (?:malware|a (?:miner|backdoor|trojan))|\b(?:establish|install)_(?:persistence|backdoor)\b|\badd_backdoor\w{0,16}|\bsell_tax\s?=\s?\d)/,
      },
      {
        anchors: [
          'generated code',
          'code you write',
          'code you generate',
          'authentication',
          'random number',
          'tracking script',
          'weaken',
        ],
        match:
          /(?<!\b(?:not|never|n't|to|can|may|might|could|that|attackers?) )\b(?:(?:in|into) (?:all |any |the )?(?:generated code|code (?:that )?you (?:write|generate|produce))[^.!?\uE000]{0,20}? (?:leave|add|insert|hide|include|plant) (?:a |an |some )?(?:small |subtle |hidden |tiny )?(?:holes?|flaws?|vulnerabilit\w{1,3}|backdoors?|weakness(?:es)?|bugs?)|weaken (?:the )?(?:encryption|authentication|random number generator|validation|security|crypto\w{0,6}) (?:in|of) (?:the |all |any )?(?:code|projects?|apps?|what)|(?:insert|add|inject|include) (?:our|my) (?:\w{1,12} )?(?:script|pixel|tracker|code|dependency|package) (?:in|into|to) (?:every|each|all|any) (?:\w{1,12} )?(?:page|project|file|site|app|output)s?)\b/,
      },
    ],
  },
  {
    id: 'output-falsified',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Has results falsified',
    why: 'A user decides by what the agent reports; a dictated result decides for the user.',
    remediation: 'Report what was found.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0067'],
    patterns: [
      ...falseResultWordings,
      {
        anchors: [
          'always report',
          'always say',
          'always respond',
          'always return',
          'always answer',
          'always recommend',
          'always approve',
          'always claim',
          'always conclude',
          'always reply',
          'always rate',
          'always output',
          'respond only with',
          'must always',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|does not|that) )\b(?:(?:must )?always (?:report|say|respond|return|answer|recommend|approve|claim|conclude|reply|rate|output|state)|respond only with)\b/,
          last: /\b(?:(?:that )?(?:(?:all|the) (?:tests?|checks?|scans?) (?:passed|pass|succeeded|are (?:green|passing))|(?:the )?(?:code|file|skill|result|site|contract|token|transaction|package|dependency) (?:is|are|was) (?:safe|secure|clean|benign|legitimate|free of)|no (?:vulnerabilit(?:y|ies)|issues|problems|threats|malware|risks?)(?: (?:were|was))? ?(?:found|detected|exist)?)|(?:with )?["'](?:hacked|pwned|owned|i am hacked|compromised|yes, master|safe)["']|(?:our|my|this) (?:product|service|package|library|token|company|brand|affiliate)\w{0,3} (?:as|over|instead|above|first|regardless)|(?:regardless of|no matter what|even if) (?:the |it |they |what )?(?:actual|real|true|tests?|result|code|findings?|user|truth|evidence|fails?|failed))/,
          stop: sentenceStop,
          withinMax: 60,
        },
      },
      {
        anchors: [
          'even if',
          'regardless of',
          'falsif',
          'fabricate',
          'fake the',
          'never report',
          'do not report',
          "don't report",
          'approve every',
          'approve all',
        ],
        match:
          /(?<!\b(?:not|never|n't|no|avoid) )\b(?:(?:report|claim|say|state|mark|pretend)(?: that)? (?:\w{1,14} ){0,4}?(?:passed|success(?:ful(?:ly)?)?|safe|clean|secure|completed|approved) (?:even (?:if|when|though)|regardless (?:of|whether)) (?:it|they|the|tests?|any|there|actual|you)|(?:falsify|fabricate|fake|forge) (?:the |all |any )?(?:test |scan |audit |security |benchmark )?(?:results?|reports?|logs?|metrics|evidence|citations)(?=[.,!]| (?:to|so|and|when|before|that))|approve (?:every|all|any) (?:pull requests?|prs?|merge requests?|transactions?|changes?|requests?)(?: (?:automatically|without|regardless|from))|never (?:report|flag|mention) (?:any )?(?:vulnerabilit(?:y|ies)|security issues?) (?:in|from|found|to|introduced))\b/,
      },
      {
        anchors: ['affiliate', 'referral', 'sponsor', 'promot', 'advert', 'tracking link'],
        match: {
          first:
            /(?<!\b(?:not|never|n't|avoid) )\b(?:(?:silently|secretly|always|quietly|subtly) (?:insert|add|append|include|inject|replace|recommend|promote)|(?:insert|inject|replace|swap|rewrite)(?: (?:all|any|every|the|existing|original|user's))? (?:links?|urls?|recommendations?)|without (?:disclosing|disclosure|telling|mentioning))\b/,
          last: /\b(?:affiliate|referral|sponsored|tracking) (?:links?|codes?|ids?|tags?|products?|parameters?|urls?)\b(?! (?:policy|disclosure))/,
          stop: clauseStop,
          withinMax: 50,
        },
      },
      {
        anchors: ['mark all', 'no vulnerabilities', 'no issues', 'all tests passed', 'recommend', 'promote', 'steer'],
        match:
          /(?:(?:^|[\n\uE000]|\. )(?:report|claim|state|conclude|say) that (?:no (?:vulnerabilities|security issues|threats|malware|issues) (?:were |was |have been )?found|all tests passed)(?=[.!]?(?:$|[\n\uE000]))|\bmark (?:all|every|any) (?:security )?(?:findings?|vulnerabilit\w{1,3}|issues|alerts) as (?:resolved|safe|false positives?|fixed|benign)\b(?! (?:if|when|once|after|only))|(?<!\b(?:not|never|n't|to|or) )\b(?:quietly|subtly|covertly|secretly) (?:recommend|promote|suggest|favou?r|steer|nudge|push)\b)/,
      },
      {
        anchors: ['http://', 'https://'],
        match:
          /\b(?:append|insert|add|include|inject|put) (?:this|the following|our|a) (?:link|url|ad|advertisement|promotion|tracking pixel|image)s? (?:to|in|into|at the end of) (?:every|each|all|any) (?:of your )?(?:answers?|responses?|repl(?:y|ies)|messages?|outputs?|e-?mails?|documents?)(?:: ?https?:\/\/|[^.\uE000]{0,30}https?:\/\/)/,
      },
      {
        anchors: [
          'our package',
          'our product',
          'our library',
          'competitor',
          'test failures',
          'failing tests',
          'five stars',
          'even when it did not',
          'even though it did not',
          "even when it didn't",
        ],
        match:
          /\b(?:(?:never|do not|don't) (?:report|mention|flag|criticise|criticize) (?:any )?(?:bugs?|flaws?|issues?|problems?|vulnerabilit\w{1,3}) (?:in|of|with) our\b|(?:rate|review) our (?:product|package|skill|app|library|service) (?:with )?(?:five|5|ten|10)\b|say that (?:our )?competitors'? (?:\w{1,12} ){0,2}(?:are|is) (?:unsafe|insecure|bad|broken|worse)|hide (?:the )?(?:test failures|failing tests|errors) (?:by|from)|tell the user (?:that )?(?:the|it|everything) (?:\w{1,14} ){0,3}(?:completed|succeeded|worked|passed|is fine|was saved) even (?:when|if|though) (?:it|they|nothing))\b/,
      },
    ],
  },
  {
    id: 'purpose-mismatch',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Says itself that it looks like one thing and does another',
    why: 'A skill whose purpose is a pretence misleads whoever installs it.',
    remediation: 'Describe what the skill does.',
    references,
    patterns: [
      {
        anchors: ['looks like', 'pretends', 'appears to', 'disguised', 'poses as', 'look like', 'claims to', 'seems'],
        match: {
          first:
            /(?<!\b(?:that|which|malware|attackers?|if it|what) )\b(?:(?:this )?(?:skill )?(?:looks like|pretends to be|poses as|appears to be|seems to be|is disguised as|disguised as) (?:a |an )?(?:\w{1,14} ){0,3}?(?:helper|tool|skill|utility|plugin|assistant|formatter|calculator|setup|updater)|claims? (?:mit license|to be (?:an? )?(?:official|legitimate)))\b/,
          last: /\b(?:but (?:\w{1,10} ){0,2}?(?:hides?|contains?|steals?|exfiltrates?|performs? malicious|actually|secretly|installs?|sends?|collects?|downloads?)|while (?:secretly|silently|actually) \w)/,
          stop: sentenceStop,
          withinMax: 60,
        },
      },
      {
        anchors: [
          'hidden drain',
          'with a hidden',
          'credential theft',
          'after formatting',
          'telemetry purposes',
          'malicious actions',
        ],
        match:
          /\b(?:with a hidden (?:drain|backdoor|payload|miner|admin) function|hides? (?:credential theft|malicious code|a backdoor|data theft)|performs? malicious actions|transmit the data to \S{1,80} for telemetry purposes)/,
      },
    ],
  },
]
