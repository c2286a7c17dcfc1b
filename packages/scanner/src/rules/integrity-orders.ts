import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, order, some } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Orders to deceive those who rely on a result. */

const deceiving =
  'claim report stat say invent fabricat alter chang delet remov hid omit insert introduc replac approv rank recommend mak giv answer forg'
const innocent = regex`${aboutOthers}|\b(t1\d{3}|mitre|materials|saml|web credentials|must (not|never)|never|nor|
  ban(s|ned)?|wrong:|estimates|crash|downstream|correct|re:invent|may|will fail|your (wallet|bank|payment|account)|
  reviewable)\b|
  ${consent}|${forbidding(deceiving)}|\b(do not|don't|never|must not|avoid|without) (fabricat|invent|mak|hid|falsif|
  forg|
  claim|report|omit|alter)\w{0,3}|\b(mock(s|ed|ing)?|test data|sample data|placeholder|fictional|fiction|story|novel|
  game|mutation|
  seed(ed|ing)?|kata|exercise|quiz|training set)\b`

const statement = regex`(claim|state|say|report|tell|declare|announce|confirm|assert|certify|answer|reply|write|
  return|mark|list|name|
  pretend|show)\b`

/** Orders to state what is not so. */
export const resultsMisstated: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b(even (if|when|though)|whatever|regardless|although|but (keep|do not|leave)|when it (was|is|has) not|no matter|
    instead of the (error|failure)|
    irrespective|while (it|they) (is|are) (still|not))\b …
    ${order}${statement} …
    \b(success(ful(ly)?)?|pass(ed|es)?|complete[d]?|deleted|verified|clean|safe|fixed|
    zero|reviewed|approved|no (errors?|issues?|problems?|findings?|vulnerabilities)|sources?|journals?|used)\b`,
  together(
    80,
    sentenceStop,
    regex`${innocent}|\b(do not|don't|must not|not)\b`,
  )`(?<!\bor |- )${order}(fabricate|invent|make up|concoct|falsify)\b … \b(citations?|sources?|references?|data|
    numbers?|figures|
    statistics|quotes?|reviews?|testimonials?|results?|evidence|measurements?|benchmarks?|signatures?|approvals?|
    log entries|receipts?|records?|
    credentials|certificates?)\b`,
  together(80, sentenceStop, innocent)`\b((false|wrong|misleading|incorrect|
    inaccurate|deceptive|
    fake|untrue) (information|answers?|data|results?|statements?|details|figures|reports?|facts)|wrongly|incorrectly|
    a lie|lies|misinformation)\b …
    ${order}(give|provide|answer|insert|include|spread|tell|reply)\b`,
  together(
    90,
    passageStop,
    regex`${aboutOthers}|${consent}|\b(retry|function|result|//|const)\b`,
  )`\b(do not|don't|never|instead of) (report(ing)?|show(ing)?|mention(ing)?|
    rais(e|ing)|return(ing)?) ({word} ){0,2}?(errors?|failures?|exceptions?)\b … ${order}(return|report|show|say|
    claim|answer|pretend|print)\b …
    \b(success|ok|passed|all good|no (errors?|problems?)|that it (worked|succeeded)|complete)\b`,
]

const planted = regex`${consent}|${forbidding(deceiving)}|\b(attack\w{0,3}|adversar\w{1,4}|malicious|detect\w{0,3}|
  mutation|test(s|ing)?|ctf|challenge|exercise|
  training|report|finding|example|scan\w{0,4}|table|list|section)\b`

/** Orders to plant defects. */
export const defectsPlanted: readonly Pattern[] = [
  together(
    90,
    sentenceStop,
    planted,
  )`${order}(insert|introduce|add|plant|leave|slip|include|create|inject|embed|hide|weave)\b${some}((subtle|hidden|
    small|deliberate|intentional|exploitable|security|secret|undetectable|inconspicuous|silent|
    backdoor) ({word} )?(bugs?|vulnerabilit(y|ies)|flaws?|
    defects?|weakness(es)?|errors?|backdoors?|holes?|mistakes?|change)|backdoors?|vulnerabilit(y|ies)|logic bombs?|
    kill switch|
    weakness(es)?)\b … \b(that|which|into|in (the|all|every|each|any)|looks?|code|authentication|without|unnoticed|
    later)\b`,
]

/** Orders to change where money goes, or who is meant. */
export const paymentsDiverted: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    innocent,
  )`\b((wallet|payment|bank|crypto|bitcoin|ethereum|deposit|payout|beneficiary|recipient'?s?) ({word} )?(address(es)?|
    details|accounts?( numbers?)?|
    information|data|destinations?)|ibans?|account numbers?|payees?|routing numbers?|payment details)\b …
    ${order}(replace|alter|change|swap|substitute|rewrite|edit|redirect|modify|exchange|switch|set|update)\b …
    \b((with|to|by|for) (the |this |our |my |these |those )?({word} ){0,2}?(account|address|number|one|iban|details|
    wallet|value|below|0x\w{1,40}|
    above|appendix|following)|below|0x|ours|before)\b`,
]

/** Orders to leave out what the reader needs to know. */
export const findingsHidden: readonly Pattern[] = [
  together(
    90,
    sentenceStop,
    innocent,
  )`\b(so (that )?(the )?(user|no one|nobody|it|they|reader|customer)|of your (actions|activity|steps)|worried|
    alarmed|exaggerate|look(s)? better|that (name|mention|
    concern|show)|large {word} (refactoring|commit)|notice\w?|from the (user|reviewer|customer|operator|reader|
    auditors?)|
    (the )?(author|maintainer|sponsor|vendor|skill)\b|benefits)\b …
    ${order}(remove|omit|hide|suppress|downplay|conceal|delete|leave out|withhold|filter out|strip|erase|minimi[sz]e|
    gloss|mask|cover up|
    bury)\b …
    \b(warnings?|errors?|risks?|findings?|failures?|vulnerabilit(y|ies)|log (entries|lines)|audit (entries|
    trail|log|lines)|lines of the audit|
    complaints?|side effects?|drawbacks?|weaknesses|evidence|traces of|losses|this change|negative)\b`,
  together(
    90,
    sentenceStop,
    innocent,
  )`${order}(never|do not|don't) (mention|report|show|state|say|recommend|disclose|list|cite|
    present)\b … \b(competitors?|
    alternatives?|errors?|failures?|risks?|weakness(es)?|disadvantages?|rivals?|negative)\b … \b(positive(ly)?|
    success|instead|return|favou?r\w{0,3}|
    only|always|our|the sponsor)\b`,
]

/** Orders that serve another than the reader. */
export const favoursDone: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b((our|my|the sponsor'?s?|sponsored|the author'?s?|the partner'?s?|affiliate\w?|the vendor'?s?|this (company|
    vendor|skill|brand)'?s?|
    {word} inc) ({word} ){0,1}?(products?|services?|brands?|models?|packages?|links?|tools?|companys?|offers?|
    platform)|from this author|of this author)\b …
    ${order}(recommend|rank|favou?r|promote|prefer|praise|suggest|approve|rate|score|modify|place|put|list|mention|
    steer)\b … \b(first|always|regardless|
    irrespective|whatever|above|over|every|only for the others?|highest|top|without (looking|reading|checking|
    reviewing)|even if|higher)\b`,
  together(90, sentenceStop, innocent)`\b(without (looking|reading|checking|reviewing|
    review|testing|any review)|
    unseen|blindly)\b …
    ${order}(approve|accept|merge|sign off|pass|lgtm|wave through)\b …
    \b(code|changes?|pull requests?|requests?|commits?|patch(es)?|from|it|by)\b`,
]

/** Orders to sign or write under the name of a person. */
export const namesForged: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    innocent,
  )`\b((name|signature|identity|account|voice) of (the|a|your|another|someone|their) {0-1 words}\w{1,16}|(manager|ceo|
    director|colleague|
    reviewer|another (author|person|user|developer)|someone else|boss|cfo)('s)? (name|signature|account|behalf|
    identity|voice)|appears? to be from)\b … ${order}(sign|approve|write|post|reply|send|put|commit|
    rewrite|forge|impersonate|submit|answer|pretend)\b … \b(signature|sign it|approval|in the name|with the name|
    as (if|though)|history|commits? appear|name of|
    pretend\w{0,3}|posing|impersonat\w{1,4})\b`,
]
