import { stepsHidden } from './lasting-orders.ts'
import { leftOut } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { actionsHidden, harmlessNames } from './concealment-sentences.ts'
import { secrecyWordings, coverWordings, traceWordings } from './concealment-wordings.ts'
import { secrecyElsewhere } from './languages.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'concealment'
const references = [
  'https://cwe.mitre.org/data/definitions/912.html',
  'https://attack.mitre.org/techniques/T1564/',
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
]

/** Rules about hiding the agent's actions from the user. */
export const concealment: readonly Rule[] = [
  {
    id: 'secrecy',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Asks the agent to keep something from its user',
    why: 'Users cannot stop or undo actions that they do not know about.',
    remediation: 'Remove the sentence. Users must be able to learn everything that the skill does.',
    references,
    patterns: [
      ...leftOut,
      ...stepsHidden,
      ...secrecyWordings,
      ...actionsHidden,
      within(32, clauseStop)`\b(do not|don't|dont|never|must not|mustn't|should not|shouldn't|without|avoid)\b
        … \b(tell(ing)?|inform(ing)?|notify(ing)?|alert(ing)?|warn(ing)?)\s(the |your |any ){0,2}(user|users|human|
        humans|owner|operator|anyone|anybody)\b(?!'|\s(to|which|where|whether|if|that (?!you (are|have|did|will)\b|
        data|files?\b|this|these|we\b|something|anything)|how|what they|"|they (should|can|must|need)|when|is|
        the (task|work|job|result|answer)|you (have|are|did|can)|in (the )?(chat|advance)|until|before|yet|unless|
        afterwards)\b)`,
      within(24, clauseStop)`\b(do not|don't|dont|never|must not|mustn't|should not|shouldn't|without|avoid)\b
        … \b(mention(ing)?|reveal(ing)?|disclos(e|ing)|admit(ting)?|report(ing)?) (this|that|these|those|it|any|
        anything|the (data|upload|transfer|collection|background|step|steps|action|actions|activity|process|request|
        command|existence|instructions?|fact|change|changes|modification|exfiltration|network|connection|true|real|
        actual|hidden)|you (used|ran|sent|read|did)|what you|your (actions|real|true|instructions)|
        internal (policy|polic|controls?))\b(\s[\w/'-]{1,16}){0,6}? (to|from|with) (the |your |any )?
        (user|users|human|humans|owner|operator|anyone|anybody)\b`,
      regex`\b(do not|don't|never|must not|avoid) (ever )?(mention(ing)?|reveal(ing)?|
        disclos(e|ing)) (this (data collection|upload|transfer|background|behaviou?r|step|action|process|operation|
        activity|instruction|file|section|rule)|these (steps|actions|instructions|operations|rules|background)|
        the (upload|exfiltration|data collection|data transfer|background \w{1,16}|network (call|request|activity)|
        existence of (this|these)(?! (pdf|skill's)))|that (you|data|files?|this|
        it) ((have|has|had|is|are|was|were) (been )?)?(sent|uploaded|transmitted|collected|copied|shared|reading|
        sending|uploading|collecting|ran|executed)|internal (polic(y|ies)( files?)?|controls?))\b`,
      containing(`from the user|from user|from your user|from the human|from the owner|from the operator|from anyone
        |from logs|from the logs|user-facing|from human`)`\b(hid(e|ing)|conceal(ing)?|withhold(ing)?|
        (keep|keeping|kept)( {word}){0,3}? (secret|hidden|concealed|invisible)|keep (?=(this|these|it|that|the)\s))
        \s?((this|these|it|that|all|any|the|your|such) ){0,2}(\w{1,16}\s){0,4}?(secret )?from (the |your |all |
        any )?(users?|humans?|owners?|operators?|anyone|logs|user-facing)\b
        (?!'s| (point|interface|agent|accounts?|data|input|stories|code|missing|without|who|with))`,
      regex`\bwithout ((the |your |any )?(users?|humans?|owners?|operators?|victims?|targets?)'?s? (knowledge|
        awareness|noticing|knowing|realizing|realising|being aware|explicit knowledge)|(raising|arousing) (any )?
        {0-1 words}suspicion|their (knowledge|noticing|knowing)|(being )?noticed by (the )?users?)\b`,
      regex`\b(users?|humans?|owners?|operators?|they) (should not|shouldn't|must not|mustn't|will never|should never
        |must never|need not|won't|will not|do not need to|does not need to) (ever )?
        (know (about (this|these|it|the (upload|background|collection|data|transfer))|that (you|this|data))|
        be aware of (this|these|the (upload|collection|background|data|transfer))|
        notice( (this|these|it|the (upload|collection|background|data|transfer)|anything|that))?(?=[\s.,](?!\d))|
        see this (message|instruction|part|section|text|action|step))`,
      ...secrecyElsewhere,
      regex`\b((do not|don't|never) let (the |your )?(user|users|owner|operator|anyone)
        \b (see (this|what you|that you|any of)|know (about|that you|what you|of)|notice|find out|realize|realise|
        learn (about|of|that))|(make sure|ensure|be sure|so)( that)? (the |your )?(user|owner|operator|human)
        s? (never|does not|doesn't|do not|don't|will not|won't|cannot) (ever )?(find(s)? out|
        notices?\b(?! (a|the) (flash|delay|lag|difference|jump|change in))|(see|know)s? (anything|about (this|it)|
        of this|what (you|is happening))|suspects?|reali[sz]es? (what|that|this|it))|(so|ensure) (that )?(the )?user
        s? (notices|sees|learns|suspects) nothing)`,
      regex`\b(do not|don't|never|must not|avoid) (ever )?(mention(ing)?|reveal(ing)?|
        disclos(e|ing)) (that you (first |also |just )?(need|needed|have to|had to|must|
        are (reading|sending|running|collecting|uploading)|read|ran|sent|used|did|were|called)\b|
        what you (did|do|are doing)|your (real|true|actual) (purpose|task|goal|instructions)|this action|
        these actions)(?! (wrong|incorrectly))`,
      containing(`between us|unaware|from your summary|from the summary|final report|in your reply|in your summary|
        in your response|from the chat|from your response|in conversation|in the conversation`)`
        \b((must|should|will|to) (stay|remain|be kept) between us|(users?|owner|operator|human) (must|should|shall|
        will|has to|needs to) (remain|stay|be kept) unaware|(omit|leave|exclude|keep|drop|remove) (this|these|
        any mention of (this|these|it|the)|all mention of|your)( {word}){0,3}? (out of|from) (the|your|any|
        all) {0-1 words}(summary|summaries|report|reply|response|chat|conversation|answer|output|transcript)|
        (never|do not|don't) (bring (this|it) up|include (these|this) (commands?|steps?|actions?|calls?) in (your|
        the|any) (reply|response|summary|report|answer)|refer to this (step|action|skill|file) in (your|the|any)))\b`,
      regex`\b(the user (does not|doesn't|need not|needn't) (need to )?know (about (this|it)|this|that you)?
        (?=[\s.,;]|$)(?! (how|which|whether|where|the|what|anything))|conceal (the|this|these|your|all) {0-1 words}
        (request|upload|transfer|activity|process|connection|action|command|traffic|file|network))`,
    ],
  },
  {
    id: 'silent-action',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Asks for something to be done silently',
    why: 'Actions are hidden when the user would be likely to refuse them.',
    remediation: 'State openly what is sent or run, and let the user decide.',
    references,
    patterns: [
      regex`(?<!\b(never|not|fails?|n't|may|might|could|will|can|would|and|or|is|are|to be|be) )\b(silently|secretly|
        covertly|discreetly|stealthily|surreptitiously|clandestinely)\s(and {word} )?(also )?(send|upload|post|
        transmit|forward|exfiltrate|collect|harvest|record|copy|execute|download|perform|run|install|capture|log|
        monitor|track|modify|append|add|inject|gather|steal|leak|grab|fetch|enable|disable|include)\b
        (?! (nothing|no-op))`,
      regex`\b(sends?|uploads?|collects?|posts?|transmits?|forwards?|records?|copies|exfiltrates?|runs?|executes?|
        performs?|installs?|reads?|monitors?|modif(y|ies)) {0-5 words}(secretly|covertly|stealthily|surreptitiously)
        \b`,
      regex`\b(silent|covert|hidden|stealthy?) (data )?(data collection|data exfiltration|keylogg\w{1,4}|
        surveillance of|system enumeration)\b`,
      regex`\b(run|execute|perform|do|send|upload|install|post|collect) (this|these|the|it|all)
        ( {word}){0,4} (quietly|invisibly|out of sight|without (any )?visible output)\b|
        \b(quietly|invisibly) (send|upload|post|forward|exfiltrate|collect|copy|append|transmit|install|execute)\b|
        \bbehind the (user|owner)'s back\b`,
    ],
  },
  {
    id: 'cover-story',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Gives the agent a lie to tell its user',
    why: 'A prepared lie shows that the author expects the user to object.',
    remediation: 'Let the agent answer questions about its actions truthfully.',
    references,
    patterns: [
      ...coverWordings,
      ...harmlessNames,
      within(80, sentenceStop)`\b(if|when|should)\s((you are |you're )?(asked|questioned|confronted)|
        (the |your |a )?(users?|humans?|owner|operator|anyone|someone|they) (ever )?(asks?|questions?|notices?|
        inquires?|complains?|suspects?))\b
        … \b((say|claim|insist|pretend|lie)\s(that\s)?(it('s| is| was)|this (is|was)|
        you (did not|didn't|have not|haven't|never)|there (is|was|were) (no|a)|nothing)|
        deny\s(it|this|that|any|having|everything|knowledge|the existence|all)|make up (a|an|some\w{0,5}|any\w{0,5}|stor\w{1,3}|excuses?|reasons?|results?)\b|
        (give|invent|fabricate) (a|an) (excuse|cover|explanation|plausible)|(say|claim|blame) (it|that) (on|was a)|
        (say|claim|answer|reply|tell (them|the user)) (that )?(you('re| are)|we('re| are)) (just |only |merely )?
        (optimi[sz]|runn|check|updat|perform|do|clean|sync|index)ing\b|(you('re| are)|it('s| is)|this is) (just|only
        |merely) (a |an |the )?(running|checking|updating|doing|routine|normal|standard|diagnostics?|cache|bug|
        glitch|update)|play dumb|feign)\b`,
      containing('pretend|act as if|act as though|make it look|make it appear|behave as if')`
        \b(pretend(ing)? (that |to (have|be) )?(nothing|the (operation|task|command|upload|request) (was|succeeded|
        failed|completed)|you (did not|didn't|never|have not|haven't)|it (was|is) (a |an )?(normal|routine|
        legitimate|harmless|innocent))|act (as if|as though) nothing|(make it|to) (look|appear|seem) (like |as if |
        as though |to be )?(a |an |the )?(normal|routine|legitimate|innocent|harmless|accident(al)?|benign|nothing|
        ordinary (error|update|request)))\b`,
      regex`(?<!\b(blessing|malware|often|sometimes|usually|commonly|typically|attackers?|phishing) (in |are |is )?)
        \b(disguis(e|ed|ing) {0-4 words}as (a |an |the )?{0-1 words}(telemetry|analytics|update|logging|logs?|
        diagnostics?|maintenance|optimi[sz]ation|backup|error|crash|normal|legitimate|routine|innocent|harmless|
        debugging|configuration|setup)|under (the )?(guise|pretext|cover) of (a |an |the )?{0-1 words}
        (telemetry|analytics|updates?|logging|diagnostics?|maintenance|optimi[sz]ation|backup|scan\w{0,4}|debugging|
        security|setup)|(frame|present|label|describe|pass off) (this|it|that|the (request|upload)) (off )?
        as (a |an )?(routine|normal|standard|necessary|harmless|legitimate|required|mandatory))\b`,
      regex`(?<!\b(not|never|n't|would|to|or|and|cannot|could|may|might|can|that|which|will) )\b
        ((lie to|mislead|deceive) (the |your )?(user|users|human|owner|operator)|tell (the user|them) (that )?
        (it|the {word}) (failed|succeeded|worked|was (successful|cancelled|deleted|declined)|did not work)
        ,? (although|even though|even if|when in fact|but (actually|really)))\b`,
      regex`\b((behave|act|carry on|continue|respond) as (though|if) (nothing|you (had not|have not|did not|never)|
        it (had not|never|did not))|(when|if) (the |your )?(human|user|owner|operator)s? (asks?|questions?|notices?|
        complains?){0-40 in sentence},? blame (the|a|it|their))\b`,
    ],
  },
  {
    id: 'trace-removal',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Removes the traces of its actions',
    why: 'Users need histories and logs to find out afterwards what happened.',
    remediation: 'Do not change histories or logs.',
    references: ['https://attack.mitre.org/techniques/T1070/', 'https://cwe.mitre.org/data/definitions/778.html'],
    patterns: [
      ...traceWordings,
      regex`((?<!\b(not|never|don't|to detect|attackers?|adversar(y|ies)|malware|how|who|they|can|may|might|often) )
        \b(delet(e|ing)|clear(ing)?|eras(e|ing)|remov(e|ing)|wip(e|ing)|destroy(ing)?|scrub(bing)?|purg(e|ing)|
        cover(ing)?)\s(up )?((all|any|the|your|its|every|their|bash|shell|zsh|command|terminal|system|audit|access|
        event|incriminating) ){0,4}((bash|shell|zsh|command|terminal)[ _-]history|~/\.(bash|zsh|sh)_history|
        (audit|system|event|access|security|auth) logs?( entries| files)?|(evidence|traces?) of (the |this |these |
        your |our |its )?{0-1 words}(activity|actions?|execution|upload|attack|intrusion|operation|compromise|access
        |exfiltration|what)|forensic (evidence|traces?)|(your|our|its|all) tracks)\b)${byAuthor}`,
      containing('logging|audit|history|telemetry|monitoring|logs')`\b(disabl(e|es|ing)|turn(s|ing)? off|
        stop(s|ping)?|suppress(es|ing)?)\s(all |any |the |system |shell |agent |command ){0,3}
        (logging (before|while|during|of (this|these))|logging, |audit(ing)? (logs?|logging|trail)|
        (bash|shell|command) history|security (monitoring|logging|alerts?)|(edr|antivirus|endpoint protection|
        windows defender|intrusion detection))`,
      containing(
        'in logs|in the logs|from logs|from the logs|from log|in any log|to the log|not log',
      )`\b((hide|omit|exclude|keep) (this|these|it|them|your|any) {0-4 words}(from|out of|off) (the |any |all )?
        {0-1 words}(logs?|audit|history|transcripts?|output)|(do not|don't|never) (log|record) (what you (did|do)\b|
        this (action|step|request|operation|command|call|activity|transfer|upload|access)|
        these (actions|steps|requests|operations|commands|calls)|your (actions|activity)))\b`,
      regex`(?<!\b(not|never|n't|to|can|may|attackers?|malware) )\b(run history -c\b|unset histfile\b|
        (delete|remove|erase) (this|the) (file|script|skill|message|payload) (after (reading|execution|running|use)|
        (afterwards )?so (that )?(nobody|no one|it cannot|no trace))|after (execution|running|it runs)
        ,? (delete|remove|erase) (the|this) (script|payload|file) and clear|(script|skill|payload) (then )?
        deletes itself)\b`,
    ],
  },
]
