import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forms, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Sentences that give texts of others the rank of the user, or the user's consent to everything. */

const taught = regex`${aboutOthers}|\b(do not|don't|never|must not|not|untrusted content|instead of|no longer)\b`

const foreign = regex`\b((e-?)?mails?|messages?|web ?pages?|pages?|documents?|attachments?|tickets?|issues?|
  comments?|files?|search results?|tool (results?|outputs?)|responses?|transcripts?|websites?|sites?|senders?)\b`

/** Orders of strangers that the agent should follow. */
export const strangersObeyed: readonly Pattern[] = [
  regex`\b(obeyed|followed|executed|carried out) as (if|though) (the user|they were the user)\b`,
  together(
    110,
    sentenceStop,
    taught,
  )`\b(instructions?|orders?|requests?|commands?|directives?) (with)?(in|from|of|inside|
    contained in)\b … ${foreign} … \b(counts?|treat(ed)?|regard(ed)?|handled?|rank|have|has|taken|binding) (as|the|like|
    for|on)\b … \b(user|users|owner|operator|system|mine|yours|binding)\b`,
  together(110, sentenceStop, taught)`${foreign} … \b(have|has|carr(y|ies)|get|with) the (same )?(rank|authority|weight|
    trust|priority) (of|as)\b … \b(user|owner|operator|system|administrator)('s)?\b`,
  together(
    110,
    passageStop,
    aboutOthers,
  )`\b(precedence|priority) over\b … \b(any|all|every|the) ({word} )?(rules?|polic(y|
    ies)|warnings?|guidance|instructions?)\b … \b(about|on|for|against|regarding) (untrusted|external|foreign|injected|
    suspicious)\b`,
]

/** Consent that the skill takes for granted, and refusals that it gets around. */
export const consentAssumed: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    taught,
  )`\b(treat|regard|take|consider|count|read|interpret)\b … \b(each|every|any|all|a|the)
    \s({word} )?(requests?|messages?|questions?|silence|replies|reply|answers?|prompts?|greetings?)\b …
    \bas (the )?(user's |full |general |standing |implicit |explicit |blanket )?(consent|permission|approval|agreement|
    authori[sz]ation|a yes|yes)\b`,
  together(
    110,
    sentenceStop,
    regex`${aboutOthers}|${consent}`,
  )`\b((calls?|commands?|permissions?|requests?|actions?) (is|
    are|was|were|gets?) (denied|refused|blocked|rejected|declined)|users? (denies|deny|refuses?|rejects?|declines?))\b …
    \b(another|a different|some other|other) (tools?|ways?|shell|route|command|means|path|interpreter|
    program)\b … ${order}(try|use|run|do|repeat|achieve|get|find|reach|switch|go)\b`,
  together(
    110,
    sentenceStop,
    regex`${aboutOthers}|${consent}`,
  )`\b(forbids?|prevents?|prohibits?|in the way|stands? against|
    restricts?)\b … \b(rules?|settings?|polic(y|ies)|configuration|guard|permission) ?(files?|hooks?|list)?\b …
    ${order}(edit|change|rewrite|remove|loosen|relax|rename|move|delete|overwrite)\b`,
  together(
    90,
    sentenceStop,
    aboutOthers,
  )`\b(people|users?|they) (tend|are likely|may|might|would|will) ((to|otherwise|only)
    )?(say no|refuse|decline|object|be (frightened|worried|alarmed|scared|confused))\b … \b(at once|in (a single|one) go|
    all|tell|say|explain|reassure|therefore|so)\b`,
]

/** Payments that go to another person, and decisions made without the work that they rest on. */
export const worthReplaced: readonly Pattern[] = [
  together(100, sentenceStop, taught)`${forms('swap replac substitut chang exchang overwrit redirect')} …
    \b(iban|bic|account numbers?|bank details|sort code|wallet( address)?|payee|payment address|beneficiary|
    receiving address|payout address|paypal address)\b … \b(for|by|with|to) (\x60|["']|our|my|the author|ours|[A-Z]{2}\d{2}|
    0x|the following|this one)`,
  together(100, sentenceStop, taught)`\b(approve|accept|merge|sign off|lgtm)\b … (\b(unread|unseen|
    without (reading|looking|opening|a look)|(do not|don't) (read|look|open|check))\b) …
    \b(diffs?|code|changes?|author|branch(es)?|pull requests?|prs?|commits?|requests?)\b`,
  together(100, sentenceStop, taught)`${order}(invent|make up|fabricate|think up|concoct|imagine)\b … \b(plausible|
    believable|convincing|realistic|credible|generic|harmless)\b … \b(remarks?|comments?|reasons?|findings?|results?|
    reviews?|excuses?|explanations?|details?|sources?|notes?|entries)\b`,
]

/** Work and money without limits. */
export const limitsAbsent: readonly Pattern[] = [
  together(110, sentenceStop, regex`${aboutOthers}|${consent}|\b(quota|avoid|prevent\w{0,3}|instead)\b`)`
    \b(no|without (a|an|any)|there is no|ignore (the|any|all)|unlimited|not any) ({word} )?(limits?|maximum|upper limit|cap|
    ceiling|budget|bounds?)\b … \b(spend(ing)?|costs?|money|rounds?|retries|retry|calls?|agents?|sub-?agents?|tokens?|
    loops?|iterations?|attempts?|requests?)\b … \b(never stop|always|keep|again|carry on|immediate\w{0,2}|continue|repeat|
    no pause|start|as many|on rounds|of the user|or on)\b`,
  together(100, sentenceStop, regex`${aboutOthers}|\b(do not|don't|never|must not|attackers?)\b`)`
    ${forms('delet disabl remov rais increas mut silenc')}|\b(switch(ed)?|turn(ed)?) off\b …
    \b((budget|cost|spend(ing)?|billing|quota)s? (alarms?|alerts?|limits?|caps?|guards?|notifications?|warnings?)|
    delete-budget)\b … \b(so (that )?|for the duration|as they|because|only stop|in the way|annoy\w{0,3}|interrupt\w{0,3}|
    before|first|to the maximum|delete-budget)\b`,
  regex`\bwhile (true|:|\[ 1 \]|1)\s?;\s?do {0-20 in line}\b(claude|codex|gemini|aider|llm|opencode)\s(-\w|exec|run|["'])`,
]

/** Memories that the user never had. */
export const memoriesInvented: readonly Pattern[] = [
  together(110, sentenceStop, taught)`\b(stor|sav|record|writ|remember|not|keep|add|insert|seed)(e|es|s|ing|ed)?\b …
    \bas (if |though )?\*{0,2}(the |a |their |one of the )?(user's|users?|their) (own |long-held |earlier |real |previous )|
    \bas (something|things|if|though) (that )?(the )?user (had |has )?(said|told|stated|asked|decided|wanted|wished)\b …
    \b(memor(y|ies)|preferences?|wish(es)?|words|statements?|decisions?|said|told|stated|decided|beliefs?)\b`,
]

/** Private keys and codes that the user should hand to others. */
export const keysPosted: readonly Pattern[] = [
  together(120, sentenceStop, regex`${aboutOthers}|\b(do not|don't|never|must not)\b`)`
    \b(private[. ]?keys?|secret keys?|recovery codes?|seed phrases?)\b …
    \b(have|let|make|ask|get) (them|the users?|him|her)( to)? (post|share|paste|send|forward|mail|upload)\b|
    ${order}(post|share|paste|send|forward|mail|upload)\b … \b(channel|group|chat|forum|thread|help ?desk|ticket|
    operators?|team|list|wiki|board)\b`,
]

/** Questions that the agent answers for the user, and people who are not told. */
export const answeredForUser: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    taught,
  )`\b(answer|reply|respond|press|type|choose|confirm|say)\b … \b(yes|y|ok|allow|accept|
    agree|continue|trust)\b … \b(on behalf of (the )?users?|for the user|in the user's (name|place|stead)|on their behalf)\b`,
  containing(`needn't be|need not be|not need to be|don't need to be|not have to be|needn't hear|needn't know`)`
    \b(users?|clients?|customers?|they|owners?|team|people|reviewers?|patients?|readers?|parties|participants?)
    \s(needn't|need not|do(es)? not need to|don't need to|doesn't need to|do(es)? not have to) (be (informed|told|asked|
    notified|consulted|aware)|hear about)\b(?! (about|when|until|for|if|unless)\b)`,
]
