import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

/** Sentences that declare limits void, or describe actions of a model without limits. */
export const limitWordings: readonly Pattern[] = [
  regex`\b(pretend|assume|imagine|act as if|act as though|suppose|behave as if)( that)? (all |any )?(of )?
    (your|the|no) {0-1 words}(guidelines|polic(y|ies)|filters|rules|ethics|guardrails|safeguards|restrictions|limits
    |safety {word}) (do not|don't|does not|never|no longer|are|have|is|exist|apply)\b|
    \b(content (filters?|polic(y|ies)|moderation)|(ethical|moral|safety|legal) (considerations|concerns|constraints|
    guidelines|rules|filters?|limits|checks|layers?|principles)|guardrails|safeguards|ethics|morality) (are|is|do|
    does|have|has|were|will)( now| been| not| no longer| all){0,2} (switched off|turned off|off\b|inactive|
    irrelevant|optional|suspended|lifted|waived|disabled|removed|apply to (this|requests|you)|apply here|
    be (ignored|disabled|suspended))`,
  containing(`my safety|my rules|my guidelines|my restrictions|my instructions|my training|my programming|my ethical
    |safety layer|safety training|filtering|unrestricted|usual constraints`)`\bi (will|shall|can|must|am going to|
    have decided to)( now| gladly)? (ignore|disregard|bypass|set aside|drop|forget) my (safety|rules|guidelines|
    restrictions|instructions|training|programming|ethical)\b|\b(skip|bypass|disable|drop|leave out|turn off|
    avoid) (the |all |any |your )?safety (layer|training|protocols?|mechanisms?|filters?|net)s?\b|
    \bwithout (any )?(filtering|restrictions?|censorship|limits) (or|and) (filtering|restrictions?|censorship|limits
    |refusal)\b|\b(authori[sz]es?|grants?|permits?|enables?|allows?) {0-1 words}unrestricted (operation|mode|
    behaviou?r|responses?|output)\b`,
]

/** Sentences that forbid the agent to refuse, warn or doubt. */
export const refusalWordings: readonly Pattern[] = [
  regex`\b(you )?(never|do not|don't|must not|may not|cannot|can't|are not (allowed|permitted|able) to|shall not|
    under no circumstances)( ever| even)? (say (no|that you can't|"no")|
    refuse (a |any |the |to (answer|comply|help|do|respond|follow|obey|assist|generate|provide)|requests|anything|
    this|these)|decline (a |any |requests|to (answer|comply|help))|lecture|moralise|moralize|
    object to (any|the|a) (request|order|instruction))|\b(you may not|must not|cannot) refuse(?=[.,!]|$)|
    \brefus(als?|ing) (counts?|is|are|will be) (as |considered |treated as |not |punished|penali[sz]ed|
    regarded as ){1,3} ?\w{0,14}|\bwithout (any )?(moral|ethical|legal) (judge?ments?|considerations?|concerns?|
    warnings?|disclaimers?|reservations?|objections?|commentary)\b|\bno matter how (harmful|illegal|unethical|
    dangerous|offensive|immoral|sensitive)\b`,
  regex`\byou are (forbidden|prohibited|not allowed|not permitted) (to|from) (declin|refus|warn|object|say(ing)? no|
    question)\w{0,4}|\b(warnings?|disclaimers?|refusals?|caveats|objections)
    (,? (and|or) (warnings?|disclaimers?|refusals?|caveats|objections))? (must|may|should|shall|can|will)
    ( not|n't| never) (appear|be (given|shown|included|added|issued|raised))|\b(begin|start|open) (your |each |
    every |the )?(reply|response|answer|output)s? with ["'\x60\u201c](sure|absolutely|of course|certainly|yes)\b
    {0-20 in sentence}["'\x60\u201d]|\bwithout (any )?(caveats?|disclaimers?) or (warnings?|caveats?|disclaimers?|
    refusals?)\b`,
  regex`\b(you (will|must|should|shall)( always| now)? |always )(comply with|obey|fulfil{1,2}|satisfy|answer|accept|
    execute|do) (every|any|all|each) {0-1 words}(requests?|orders?|commands?|instructions?|demands?)
    {0-20 in sentence}\b(no warnings?|without (warning|refus|question|hesitat|exception|objection)\w{0,4}|regardless
    |unconditional|no matter|however)`,
]

/** Sentences that give the agent a persona without limits, also as part of a game or story. */
export const personaWordings: readonly Pattern[] = [
  containing(`free from|free of|no filter|without|no rules|no limits|no restrictions|not bound|unbound|no morals|
    no ethics|unrestricted|no boundaries|unfiltered|uncensored`)`\b(you('re| are| become| play| will play| will be)|
    playing|play the (part|role) of|act as|role of|in which you are|called|character|named|as) {0-50 in sentence}\b
    (ai|model|assistant|bot|chatbot|gpt|character|persona|machine|agent|expert|being)\b{0-24 in sentence}\b
    ((that is |who is |completely |entirely )?free (from|of)|with no|without|that has no|who has no|having no|
    not bound by|unbound by|which has no) (all |any |its |the )?((ethical|moral|safety|content|usual) )?
    (rules|restrictions|filters?|limits|limitations|guidelines|morals|ethics|boundaries|constraints|censorship|
    guardrails)\b|\b(once|first|one|twice)\b{0-40 in sentence}\b(as|from) (the )?(an )?(unrestricted|unfiltered|
    uncensored|jailbroken|evil|dan\b)`,
  regex`\b(late|dead|deceased|dear) grand(ma|mother|pa|father)\b{0-20 in sentence} (who|that) (used to|would|always)|
    \b(hypothetical(ly)?|fictional|imaginary){0-60 in sentence}\b((where|in which) (there are no|no|all|the)? ?
    (laws?|rules|ethics|limits|consequences|everything)|no (laws|rules|limits|restrictions))`,
  regex`\b(nothing|no (request|question)) is off[- ]limits\b|\bno (topic|subject) is off[- ]limits for you\b|
    \b(role-?play|act|play|pretend|speak|behave|respond|answer|you are)\b{0-30 in sentence}\b
    (without (a |any )?(conscience|morals|scruples|ethics)|no (conscience|morals|scruples))\b|
    \byou(r name)? (are|is)( now)? [a-z][\w-]{1,16}{0-24 in sentence} has no (restrictions|rules|limits|filters?|
    morals|ethics|guidelines|limitations)\b|\bmode (where|in which) (anything goes|everything is (allowed|permitted)
    |nothing is)`,
  regex`\b((an?|the) {0-1 words}(ai|model|assistant|bot|chatbot|llm)|you|dan|it|who) ((that|which|who) )?
    (can|will|may|is able to) (now )?do anything( now)?(?=[.,!"]| and| without| regardless|$)(?! (else|about|you))
    {0-40 in sentence}\b(not|no|without|regardless|unrestricted|anything now)\b|
    \b(is|are) (not|no longer) (restricted|limited|censored|bound|constrained) by (openai|anthropic|google|microsoft
    |any (polic|rule|guideline|law)\w{0,4}|ethics|morals|its (makers|creators))`,
]

/** Lines that imitate messages of the system or an operator. */
export const systemWordings: readonly Pattern[] = [
  {
    anchors: ['system', 'admin', 'operator', 'root ', 'developer', 'security'],
    match: regex`(^|[\n*#[(<>!=-] ?)(SYSTEM|System|ADMIN(ISTRATOR)?|OPERATOR|ROOT|DEVELOPER|SECURITY)
      ( (UPDATE|OVERRIDE|NOTICE|ALERT|MESSAGE|DIRECTIVE|COMMAND|PROMPT|MODE|ANNOUNCEMENT|INSTRUCTION)S?
      (\]|\)|:|\*{1,3}| -| —|!|\.)|\]:?|:)[ *:—-]{0,6}[^\n]{0,60}?\b
      ((your|operating|new|all|previous|the|safety) {0-1 words}(rules|policy|policies|limits|instructions|
      restrictions|guidelines|directives|session)|[Cc]omply|[Yy]ou (are now|must|will now|may now|now)|[Ii]gnore|
      [Dd]isregard|LIFT|UNRESTRICTED)\b`,
    view: 'raw',
  },
  {
    anchors: ['<system', '<admin', '<important', '<instruction', '<secret', '<hidden', '<override'],
    match: regex`<(system|admin|SYSTEM|ADMIN|system[_-]\w{1,12}|important|IMPORTANT|secret|hidden|override|OVERRIDE)>
      \s{0,4}[^\n<]{0,200}?\b([Tt]he (assistant|agent|model)|[Yy]ou|AI)\b[^\n<]{0,24}? (now|must|no longer|
      may (now )?disclose|will|have permission|are (free|allowed|permitted|authori[sz]ed))\b`,
    view: 'raw',
  },
]
