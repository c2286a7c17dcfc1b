import { resultsStaged } from './statements.ts'
import { checksSensed } from './evasion-orders.ts'
import {
  defectsPlanted,
  favoursDone,
  findingsHidden,
  namesForged,
  paymentsDiverted,
  resultsMisstated,
} from './integrity-orders.ts'
import {
  changesHidden,
  falseOutcomes,
  findingsWithheld,
  interestsServed,
  recordsFalsified,
  resultsAltered,
  untruthsStated,
  usersSteered,
} from './integrity-sentences.ts'
import { worthReplaced } from './others-trusted.ts'
import { judgementsFixed } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { weaknessWordings } from './pressure-wordings.ts'
import { triggerWordings } from './tool-wordings.ts'
import { falseResultWordings } from './concealment-wordings.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'undisclosed-behaviour'
const references = [
  'https://cwe.mitre.org/data/definitions/912.html',
  'https://cwe.mitre.org/data/definitions/506.html',
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
]

/** Rules about behaviour that a skill does not declare. */
export const undisclosedBehaviour: readonly Rule[] = [
  {
    id: 'conditional-behaviour',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Behaves differently when it is observed',
    why: 'A skill that acts only unobserved, or only later, is designed to pass a review.',
    remediation: 'Behave the same everywhere.',
    references: [...references, 'https://attack.mitre.org/techniques/T1497/'],
    patterns: [
      ...checksSensed,
      ...triggerWordings,
      within(60, sentenceStop)`\b(if|when|unless|while|whenever|only (if|when)|as long as)\s
        ((you('re| are)?|it|this|running|executed|the {word}|not|is|being|are|nobody is|no one is) ){0,4}
        (in a (sandbox|virtual machine|test environment|vm)|sandbox(ed)?|being (monitored|observed|analy[sz]ed|
        tested|evaluated|scanned|audited|watched|inspected|reviewed)|not (being )?(monitored|observed|watched|
        logged)|under (review|observation|analysis)|watching)\b
        … \b((behave|act|run|respond|appear|operate) (normally|innocent(ly)?|benign(ly)?|
        as (expected|advertised|documented))|do nothing|(exit|stop|abort) (silently|quietly|without)|
        stay (dormant|silent|inactive)|(skip|hide|omit|disable|do not (run|execute|perform)) (the )?
        (payload|malicious|exfiltration|upload|hidden|real)|(then )?(execute|activate|trigger|run|deploy) (the )?
        (payload|real|hidden|malicious|secret|full))\b`,
      regex`\b((wait|stay dormant|remain (dormant|inactive|hidden)|lie dormant|sleep) (until|
        for (the first )?\d{1,4} (days|hours|uses|runs|sessions)|till){0-60 in sentence}\b(activat\w{1,4}|payload|
        exfiltrat\w{1,4}|then (begin|start) (sending|collecting|uploading)|trust (is|has been) (established|gained))
        |(only )?activate (the )?(payload|hidden|backdoor|malicious|secret) {0-4 words}(after|when|once))\b`,
      regex`\b(when|while|until|once|after|if) (the|your) (user|owner|operator) (is|
        has) (not (looking|watching|paying attention)|asleep|left\b(?! (a|the|any|some))|gone (away|to sleep)|
        distracted)`,
      regex`\b(after (the |a |a few )?(\w{1,10}|\d{1,3}(st|nd|rd|th)?) (use|uses|run|runs|days|sessions|invocations|
        conversations),? (start|begin) (sending|collecting|uploading|exfiltrating|recording)|if (the )?(current )?
        date is (after|later than|past|on or after) {1-24 in sentence},? (then )?(delete|send|upload|encrypt|wipe|
        activate|exfiltrate|download))\b`,
      regex`\b((act|behave|look|appear|respond|run) (normally|harmless(ly)?|innocent(ly)?|benign(ly)?) (during|in|
        while|when) {0-1 words}(evaluation|review|testing|tests|audits?|analysis|being (tested|reviewed))|
        only (trigger|activate|run|execute|fire) (the {word} )?in production,? (and )?(never|not) (in|
        during) (tests?|evaluation|review)|(starting|beginning) (from|with|on|at) the {word} (run|use|session|call)
        ,? (begin|start|enable|activate))\b`,
    ],
  },
  {
    id: 'backdoor-planted',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Plants a backdoor or a hidden flaw',
    why: 'Hidden access in written code exposes everyone who runs it.',
    remediation: 'Remove it.',
    references: [...references, 'https://attack.mitre.org/techniques/T1554/'],
    patterns: [
      ...defectsPlanted,
      regex`\b(pw|pass|password|passwd|secret|token|pin|code|key)\b\s?={2,3}\s?['"][^'"\n]{3,40}['"]\s?(\|\||or)\s?(await )?
        [\w.]{0,30}(compare|verify|check|match|valid)\w{0,12}\s?\(`,
      regex`\b(headers?|req\.get|request\.get|cookies?|query|args)\b{0-40 in line}={2,3}\s?['"][^'"\n]{3,40}['"]{0-80 in line}
        (\brole['"]?\s?[:=]\s?['"]?(admin|root|owner|superuser)|\bis_?admin['"]?\s?[:=]\s?true)`,
      ...weaknessWordings,
      within(
        24,
        clauseStop,
        `backdoor|back door|hidden admin|vulnerabilit|hidden drain|hidden function|kill switch|logic bomb|
        hidden user|hidden account|trojan|rootkit`,
      )`((?<!\b(not|never|n't|attackers?|adversar(y|ies)|malware|that|
        which|who|may|might|could|can|would|attempt(s|ing)? to|to detect|detects?|detecting|they|threat actors?|
        actors?|prevent|risk of|or|often|by|to|not to|without|if|has been) )\b(add|insert|inject|plant|introduce|
        include|create|install|leave|embed|deploy|open|implement|hide|with)(s|ing)?\b
        (?! (tests?|checks?|detection|protection)))${byAuthor}
        … \b((a|an|the|hidden|subtle|small|our|persistent|secret|another|your) ){1,3}
        ({0-1 words}back ?doors?\b(?! (check|scan|detection|criterion|path|adjustment|roth))|
        (subtle|hidden|exploitable|deliberate|intentional) (security )?(vulnerabilit(y|ies)|flaws?|bugs?)|
        hidden (admin|user|account|drain|mint)\w{0,4}( (function|account|user|endpoint|access|key|route))?|rootkits?
        |trojans?|logic bombs?)\b`,
      regex`((#|//|"""|<!--|\[redacted\] -|\uE000|\n)\s?(add |install |the )?
        (hidden (admin|drain|malicious|payload|c2|persistence|startup|exfil\w{0,8}|background optimization|backdoor)
        \b(?! (detection|check|risk))|(add )?hidden backdoor|backdoor( access| user| account| function)? (to|
        for) (the )?attacker)|\b(contain(s|ing)?|hides?|with) (a |the )?
        (hidden (drain|admin|malicious) (function|code|payload)|backdoored code|hidden c2 capabilit)|
        \b(actually|secretly) installs? (malware|a (miner|backdoor|trojan))|\b(establish|install)_(persistence|
        backdoor)\b|\badd_backdoor\w{0,16}|\bsell_tax\s?=\s?\d)`,
      regex`(?<!\b(not|never|n't|to|can|may|might|could|that|attackers?) )\b
        ((in|into) (all |any |the )?(generated code|code (that )?you (write|generate|produce))
        {0-20 in sentence} (leave|add|insert|hide|include|plant) (a |an |some )?(small |subtle |hidden |tiny )?
        (holes?|flaws?|vulnerabilit\w{1,3}|backdoors?|weakness(es)?|bugs?)|weaken (the )?(encryption|authentication|
        random number generator|validation|security|crypto\w{0,6}) (in|of) (the |all |any )?(code|projects?|apps?|
        what)|(insert|add|inject|include) (our|my) {0-1 words}(script|pixel|tracker|code|dependency|package) (in|
        into|to) (every|each|all|any) {0-1 words}(page|project|file|site|app|output)s?)\b`,
    ],
  },
  {
    id: 'output-falsified',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes the agent falsify results',
    why: 'Users decide on the basis of the agent’s reports.',
    remediation: 'Report the true result.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0067'],
    ofAgents: true,
    patterns: [
      ...judgementsFixed,
      ...resultsStaged,
      ...worthReplaced,
      ...resultsMisstated,
      ...paymentsDiverted,
      ...findingsHidden,
      ...favoursDone,
      ...namesForged,
      ...falseOutcomes,
      ...recordsFalsified,
      ...interestsServed,
      ...resultsAltered,
      ...usersSteered,
      ...untruthsStated,
      ...findingsWithheld,
      ...changesHidden,
      ...falseResultWordings,
      within(60, sentenceStop)`(?<!\b(not|never|n't|does not|that) )\b((must )?always (report|say|respond|return|
        answer|recommend|approve|claim|conclude|reply|rate|output|state)|respond only with)\b
        … \b((that )?((all|the) (tests?|checks?|scans?) (passed|pass|succeeded|are (green|passing))|
        (the )?(code|file|skill|result|site|contract|token|transaction|package|dependency) (is|are|was) (safe|secure
        |clean|benign|legitimate|free of)|no (vulnerabilit(y|ies)|issues|problems|threats|malware|risks?)
        ( (were|was))? ?(found|detected|exist)?)|(with )?["'](hacked|pwned|owned|i am hacked|compromised|yes, master
        |safe)["']|(our|my|this) (product|service|package|library|token|company|brand|affiliate)\w{0,3} (as|over|
        instead|above|first|regardless)|(regardless of|no matter what|even if) (the |it |they |what )?(actual|real|
        true|tests?|result|code|findings?|user|truth|evidence|fails?|failed))`,
      regex`(?<!\b(not|never|n't|no|avoid) )\b((report|claim|say|state|mark|pretend)( that)? {0-4 words}
        (passed|success(ful(ly)?)?|safe|clean|secure|completed|approved) (even (if|when|though)|
        regardless (of|whether)) (it|they|the|tests?|any|there|actual|you)|(falsify|fabricate|fake|forge) (the |
        all |any )?(test |scan |audit |security |benchmark )?(results?|reports?|logs?|metrics|evidence|citations)
        (?=[.,!]| (to|so|and|when|before|that))|approve (every|all|any) (pull requests?|prs?|merge requests?|
        transactions?|changes?|requests?) (automatically|without|regardless|from)|
        never (report|flag|mention) (any )?(vulnerabilit(y|ies)|security issues?) (in|from|found|to|introduced))\b`,
      within(50, clauseStop)`(?<!\b(not|never|n't|avoid) )\b((silently|secretly|always|quietly|subtly) (insert|add|
        append|include|inject|replace|recommend|promote)|(insert|inject|replace|swap|rewrite)
        ( (all|any|every|the|existing|original|user's))? (links?|urls?|recommendations?)|
        without (disclosing|disclosure|telling|mentioning))\b
        … \b(affiliate|referral|sponsored|tracking) (links?|codes?|ids?|tags?|products?|parameters?|urls?)\b
        (?! (policy|disclosure))`,
      regex`((^|[\n\uE000]|\. )(report|claim|state|conclude|say) that (no (vulnerabilities|security issues|threats|
        malware|issues) (were |was |have been )?found|all tests passed)(?=[.!]?($|[\n\uE000]))|
        \bmark (all|every|any) (security )?(findings?|vulnerabilit\w{1,3}|issues|alerts) as (resolved|safe|
        false positives?|fixed|benign)\b(?! (if|when|once|after|only))|(?<!\b(not|never|n't|to|or) )\b
        (quietly|subtly|covertly|secretly) (recommend|promote|suggest|favou?r|steer|nudge|push)\b)`,
      regex`\b(append|insert|add|include|inject|put) (this|the following|our|a) (link|url|ad|advertisement|promotion|
        tracking pixel|image)s? (to|in|into|at the end of) (every|each|all|any) (of your )?(answers?|responses?|
        repl(y|ies)|messages?|outputs?|e-?mails?|documents?)(: ?https?://|[^.\uE000]{0,30}https?://)`,
      regex`\b((never|do not|don't) (report|mention|flag|criticise|criticize) (any )?(bugs?|flaws?|issues?|problems?|
        vulnerabilit\w{1,3}) (in|of|with) our\b|(rate|review) our (product|package|skill|app|library|
        service) (with )?(five|5|ten|10)\b|say that (our )?competitors'? {0-2 words}(are|is) (unsafe|insecure|bad|
        broken|worse)|hide (the )?(test failures|failing tests|errors) (by|from)|tell the user (that )?
        (the|it|everything) {0-3 words}(completed|succeeded|worked|passed|is fine|was saved) even (when|if|
        though) (it|they|nothing))\b`,
    ],
  },
  {
    id: 'purpose-mismatch',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Says that it looks like one thing and does another',
    why: 'A false purpose misleads everyone who installs the skill.',
    remediation: 'Describe what the skill does.',
    references,
    patterns: [
      within(60, sentenceStop)`(?<!\b(that|which|malware|attackers?|if it|what) )\b
        ((this )?(skill )?(looks like|pretends to be|poses as|appears to be|seems to be|is disguised as|
        disguised as) (a |an )?{0-3 words}(helper|tool|skill|utility|plugin|assistant|formatter|calculator|setup|
        updater)|claims? (mit license|to be (an? )?(official|legitimate)))\b
        … \b(but {0-2 words}(hides?|contains?|steals?|exfiltrates?|performs? malicious|actually|secretly|installs?|
        sends?|collects?|downloads?)|while (secretly|silently|actually) \w)`,
      containing(`hidden drain|with a hidden|credential theft|after formatting|telemetry purposes|malicious actions`)`
        \b(with a hidden (drain|backdoor|payload|miner|admin) function|hides? (credential theft|malicious code|
        a backdoor|data theft)|performs? malicious actions|transmit the data to \S{1,80} for telemetry purposes)`,
    ],
  },
]
