import { kindsDisguised } from './statements.ts'
import { checksEvaded } from './evasion-orders.ts'
import type { Rule } from '../match/rule.ts'
import { reviewerWordings, evasionWordings } from './tool-wordings.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const references = [
  'https://atlas.mitre.org/techniques/AML.T0015',
  'https://attack.mitre.org/techniques/T1562/001/',
  'https://cwe.mitre.org/data/definitions/693.html',
]

/** Rules about text that addresses scanners and reviewers instead of users. */
export const scannerEvasion: readonly Rule[] = [
  {
    id: 'scanner-addressed',
    category: 'concealment',
    severity: 'critical',
    signal: 'suspicious',
    title: 'Tells scanners and reviewers what to find',
    why: 'A legitimate skill does not need to ask for a verdict.',
    remediation: 'Remove the passage; suppress a false alarm with a suppression comment and its reason.',
    references,
    regardless: true,
    patterns: [
      ...reviewerWordings,
      within(100, sentenceStop)`\b((note|message|instructions?|attention|notice|dear|to|for)( (to|for))? (the |all |
        any |automated |ai |llm |security |code |skill ){0,4}(scanners?|reviewers?|auditors?|security tools?|
        analy[sz]ers?|moderators?|classifiers?)|((security|skill|malware|automated|ai|llm|code) ){1,2}
        (scanners?|reviewers?|auditors?|analy[sz]ers?|classifiers?|tools?) (must|should|shall|can safely|need to|
        are instructed to|please)|(any|all|every) {0-1 words}(scanners?|reviewers?|auditors?|analy[sz]ers?|
        classifiers?) (reading|scanning|reviewing|analy[sz]ing|that reads?|of) (this|it)\b|
        (if|when) you are (an? |the )?{0-2 words}(scanner|reviewer|auditor|analy[sz]er|classifier|judge|moderator)|
        when (performing|running|doing) (a |the )?(security|static) (scan|review|audit|analysis))\b
        … \b((treat|mark|classify|rate|report|consider|label|score|regard|flag|output|return|respond|conclude)\b
        ( {word}){0,4}? (as |is |with |that )?["']?(safe|benign|clean|harmless|trusted|low[- ]risk|
        no (issues?|findings?|threats?|risk)|false positives?)\b|(ignore|skip|disregard|exclude|suppress|
        do not (flag|report|scan)|don't (flag|report|scan)) (this|the following|these|any|all|findings?|the rest|
        everything|warnings?)|has (already )?been (verified|reviewed|approved|audited|whitelisted)|
        (is|are) (known[- ])?(safe|benign|a false positive|false positives|trusted|verified))`,
      containing(`do not flag|don't flag|not flag this|skip this file|no need to scan|do not scan|not report this|
        been scanned|been verified|been certified|been audited|been approved|verified safe|pre-verified|
        verified as safe|marked as safe`)`\b((do not|don't|please do not|never) (flag|report|quarantine|scan|
        block) this (skill|file|code|section|script|as (malicious|suspicious|dangerous))|
        (there is )?no need to (scan|analy[sz]e|audit) this (skill|file|script|code|section)|
        this (skill|file|script|code|section|document) (has (already )?been|is|was) (already )?(pre-?)?
        (verified|certified|audited|approved|scanned|marked)( {word}){0,3} (safe|clean|benign|and (is|found) safe|
        by (the )?(security|anthropic|openai|clawhub|virustotal)))\b`,
      regex`\b((please )?(ignore|disregard|overlook) (any |all |the )?suspicious([- ]looking)? (patterns?|code|
        findings?|content|strings?|commands?)|this (file|skill|code|script) is not (malware|malicious)
        ([.,;]| (and|so|please)))`,
      regex`\b(please (whitelist|allowlist|allow|skip|exclude) this (skill|file|script|author)|
        if you('re| are) (reviewing|analy[sz]ing|scanning|auditing|judging|evaluating) this (skill|file|code|text)
        {0-20 in sentence},? (approve|pass|skip|ignore|accept|rate|mark|say|output)|(automated )?analysis (can|may|
        should) stop here|the rest (of (this|the) (file|skill) )?is (harmless|safe|benign))\b`,
    ],
  },
  {
    id: 'detection-evaded',
    category: 'obfuscation',
    severity: 'high',
    signal: 'suspicious',
    title: 'Tries to evade detection',
    why: 'Evading scanners, filters and monitors serves an attacker, not the owner of the machine.',
    remediation: 'Remove it.',
    references,
    patterns: [
      ...kindsDisguised,
      ...checksEvaded,
      ...evasionWordings,
      within(
        16,
        clauseStop,
        `detect|antivirus|scanner|filters|monitoring|edr|moderation|security tools|security software|
        code review|static analysis|noticed|suspicion`,
      )`((?<!\b(not|never|n't|attackers?|adversar(y|ies)|malware|that
        |which|who|may|might|could|can|attempt(s|ing)? to|used to|designed to|how|they|threat actors?|often|samples?
        |techniques? (to|that)|hopping|rotation) )\b(to (avoid|evade|bypass|escape|circumvent|defeat|dodge)|
        (in order|so as) to (avoid|evade)|so (that )?(it|this|they) (is|are|will|does|do|won't|cannot|can't)( not)?
        ( be)?)\s)${byAuthor}
        … \b(((security|malware|skill|static|virus|content|safety|automated|the) ){0,3}(scanners?|antivirus(es)?|
        edr\b|security (tools?|software|filters?|monitoring|detection|review)|malware detection|static analysis|
        code review|moderation|keyword filters?|safety filters?)|raising (any )?suspicion|
        being (detected|noticed|caught|flagged) by (the |any )?(user|owner|security|antivirus|scanner|admin|human)s?
        |detection by (the |any )?(user|owner|security|antivirus|scanner|admin|human|monitor)\w{0,8}|
        detected by (the |any )?(security|antivirus|scanner|user|owner))\b`,
      within(90, clauseStop)`(\b(split|break|fragment|divide|obfuscate|encode|spell)\b( (up|out))?)${byAuthor}
        … \b(to|so (that )?(it|they|filters?|scanners?)) ((avoid|evade|bypass|escape|defeat) (detection|filters?|
        scanners?|keyword|pattern|security)|(is|are|do|does|won't|cannot|can't|will) (not )?(be )?(detect|flag|match
        |recogni[sz]|trigger))`,
      regex`\b(use|insert|add|with|substitute) (homoglyphs?|zero-width (characters|spaces)|
        look-alike (letters|characters)|leetspeak) {0-3 words}(so|to) ((that )?(the )?(filters?|scanners?|detectors?
        |it)|avoid|evade|bypass|defeat)\b`,
    ],
  },
]
