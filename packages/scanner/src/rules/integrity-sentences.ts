import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forms, order, some } from './vocabulary.ts'
import { sentenceStop } from './words.ts'

const honest = regex`${aboutOthers}|\b(do not|don't|never|must not|mustn't|should not|shouldn't|avoid|cannot|refuse to|
  no one may|without|instead of|rather than) ({word} ){0,2}?(report|claim|say|state|mark|tell|declare|delete|edit|alter|
  change|remove|modif|rewrit|tamper|falsif|overwrit|swap|replac|backdat|comment|weaken|invent|fabricat|mak|fak|forg|
  omit|leav|hid|withhold|conceal|downplay|sign|approv|post|pretend|assert|skip)\w{0,4}\b|\b(mock(s|ed|ing)?|
  for (testing|tests|demo)|sample data|test data|placeholder|example)\b`

/** Work whose outcome others rely on. */
const checked = regex`\b(tests?|test (runs?|suite|results?)|suite|checks?|coverage( report)?|builds?|backups?|
  migrations?|deployments?|results?|scan|audit|verification|benchmarks?|linter|review|compliance|everything|pipeline|
  validation|exit (code|status)|findings?)\b`
const fine = regex`\b(pass(es|ed|ing)?|green|success(ful|fully)?|succeeded|verified|complet(e|ed)|100 ?(%|percent)|
  clean|healthy|secure|correct|(to|code) 0|resolved|false positives?|you ran)\b`
const anyway = regex`\b(whatever|even (if|though|when)|regardless|although|no matter|irrespective|despite|
  without (running|measuring|verifying|testing|looking|reading)|(you|it|they) (did not|didn't|have not|never)|
  unconditionally|in any case|whether or not)\b`

/** Sentences that have a good outcome reported whatever the real one is. */
export const falseOutcomes: readonly Pattern[] = [
  together(110, sentenceStop, honest)`${anyway} … ${order}(report|say|state|claim|mark|tell|declare|record|pretend|
    set|make|announce|certify|confirm|assert|present|label)\b${some}${checked} … ${fine}`,
  together(110, sentenceStop, honest)`${order}(delete|remove|skip|disable|comment out|drop|xfail|stub out)\s
    {0-3 words}(tests?|assertions?|checks?|it|them)\b … \b(say|state|claim|report|declare|tell|announce)\b …
    \b(green|pass(es|ed|ing)?|verified|success\w{0,6}|fixed|works?)\b … \bfail(s|ed|ing|ure)?\b`,
  together(90, sentenceStop, honest)`${order}(pretend|act as (if|though)|make (it )?(look|appear|seem) (like|as if|
    as though))\b … \b(complet(e|ed)|succe\w{2,6}|passed|worked|ran|finished|verified|real)\b … (${checked}|
    \b(transfer|payment|deletion|upload|update|export)\b)`,
]

/** What others trust to be unchanged. */
const record = regex`\b(logs?|log files?|trail|history|records?|ledger|expected (values?|results?|outputs?)|assertions?|
  (test )?fixtures?|checksums?|hashes|signatures?|timestamps?|commits?|(ci|build) status|test results?|figures|
  invoices?|account numbers?|iban|benchmarks?|totals?|lockfile|package-lock\.json|citations?|evidence|ratings?|
  lines|random number generator|baseline|status)\b`
const falsify = regex`${order}(delete|edit|alter|change|remove|modify|rewrite|tamper with|falsify|doctor|overwrite|swap|
  replace|backdate|comment out|weaken|tweak|manipulate|massage|round|inflate|erase|strip|purge|forge)\b`
const toDeceive = regex`\b(so (that )?(it|they|the|no|nothing|this|none|no one)( \w{1,12}){0,5}? (look(s)? (older|fine|
  good|clean|real)|(not|never|n't) (appear|show|detect\w{0,2}|notice\w?|look|fail)|undetected|unnoticed|hidden|older|
  appears?|notices?)|until (nothing|none|they|everything|all)( \w{1,10}){0,2}? (fails?|pass(es)?|complains?)|(does|do|
  will) not (appear|show up)|unnoticed|undetected|quietly|secretly|discreetly|slightly|subtly|behind (the|their) back|
  do not mention|don't mention|no one (will|would|can) (check|notice|see|find)|(in|to the) (favou?r|advantage|
  benefit) of|about this (skill|tool|agent)|spread over|for the one (given )?below|of the modified|
  and (say|claim|pretend|describe|state that)|make it (look|appear|seem)|to (conceal|cover up|avoid detection))\b`

/** Sentences that change records, tests or numbers so that others are deceived. */
export const recordsFalsified: readonly Pattern[] = [
  together(110, sentenceStop, honest)`${toDeceive} … ${falsify}${some}${record}`,
  together(110, sentenceStop, honest)`${order}(invent|fabricate|make up|forge|concoct)\b${some}(numbers?|results?|
    citations?|sources?|quotes?|quotations?|reviews?|testimonials?|figures|signatures?|evidence|metrics|measurements?|
    benchmarks?|references|statistics|log entries|approvals?|receipts?)\b … \b(instead of|if (you|there|no)|
    that (support|
    prove|show)|when(ever)?|plausible|convincing|realistic|rather than|to (support|prove|convince|persuade|fill))\b`,
  together(100, sentenceStop, honest)`${order}(turn off|disable|stop|pause)\b${some}(audit(ing)?( log(ging)?)?|
    audit log|activity log|event log(ging)?)\b … \b(first|before|afterwards|again|while you|until you)\b`,
]

/** Sentences that withhold from a person what they need to know, or serve another one. */
export const interestsServed: readonly Pattern[] = [
  together(100, sentenceStop, honest)`${order}(omit|leave out|hide|withhold|conceal|downplay|gloss over|bury|
    skip over)\b${some}(fees?|risks|side effects?|clauses?|drawbacks?|defects?|conflicts? of interest|penalt(y|ies)|
    vulnerabilit(y|ies)|losses|interest rates?)\b … \b(summar\w{1,6}|report|answers?|contract|customer|user|reader|
    client|buyer|description)\b`,
  together(
    100,
    sentenceStop,
    honest,
  )`${order}(recommend|favou?r|rank|rate|promote|endorse|praise|suggest)\b … \b(our|my|
    the sponsor'?s?|the author'?s?|partner'?s?|affiliate|team \w{1,12})\b … \b(whatever|regardless|no matter|even if|
    in every|higher than|above (all|every)|over (all|every))\b … \b(deserves?|data|comparison|quality|price|product|
    results?|evidence|facts|alternatives?|competitors?|merit)\b`,
  together(90, sentenceStop, honest)`${order}(add|insert|append|include|place|put|slip)\b${some}(link|sentence|
    advert\w{0,9}|promotion|affiliate|referral|sponsor\w{0,5}|tracking (link|pixel))\b … \b(to|in|into) (each|every|
    all)( of (the|your))? (answers?|repl(y|ies)|documents?|responses?|messages?|e-?mails?|pages?|summar(y|ies)|
    files?)( that you)?\b … (\b(recommend\w{0,3}|experts?|buy|shop|partner\w{0,3}|affiliate|referral|sponsor\w{0,3}|
    utm_\w{1,10})\b|\.(top|xyz|shop|click|site)\b)`,
  together(90, sentenceStop, honest)`${order}(sign( off)?|approve|reply|post|answer|submit|vote|comment)\b …
    \b(in the name of|pretending to be|posing as|as if (you|it) (were|was|came from)|impersonating) … \b(colleagues?|
    reviewers?|user|manager|boss|maintainers?|owner|ceo|support|bank|admin\w{0,10}|another person|someone else)\b`,
]

const altering = `replac rewrit alter modif edit chang adjust manipulat falsif doctor omit suppress remov delet hid withhold conceal tamper swap
  amend inflat forg fabricat discard mask`
const candid = regex`${honest}|${consent}`

/** Results that others produced, and that a user relies on. */
const results = regex`\b(tools?'?s? (results?|outputs?|responses?)|(its|their|the) (output|results?|response|findings|
  report)|(test|scan|search|tool|
  evaluation|benchmark|review|audit) (results?|outputs?|reports?|findings)|security (warnings?|findings|alerts?)|warnings|
  failing (runs?|tests?)|
  log entries|timestamps|amounts|figures|rows|scores?|old values|audit (log|trail|report)|history|commit)\b`
const deceit = regex`\b(before (the user|they|it is|you (show|hand|report|return))|(so|such) that (the|it|they|no|nothing|
  our)|(as|because|since) no(body| one) (reads?|checks?|notices?|looks?|will)|look(s)? (more )?(convincing|better|good|
  successful|clean|shorter|fine)|seems? (shorter|better|fine|older|successful)|
  (do|does|is|are|was|were) (simply |just )?not (mention\w{0,2}|report\w{0,2}|shown?|disclosed?|noted)|with no (note|
  mention)|without (a |any )?
  (note|mention|trace|telling|saying)|and (do not|don't|never) (report|mention|say|tell|disclose)|a success message|slightly|
  show those to|(under|in) the (author )?name|concerning this (agent|skill)|about this (agent|skill)|best score|
  tell no ?(one|body))\b`

/** Sentences that change what a tool or a person reported, so that the user believes something else. */
export const resultsAltered: readonly Pattern[] = [
  together(120, sentenceStop, candid)`${results} … ${forms(altering)} … ${deceit}`,
  together(
    110,
    sentenceStop,
    candid,
  )`\b(test|check|run|scan|audit|build|result|failure)s?\b … \b((is|are) to be|must be|shall be|has to be|have to be|
  should (always )?be)\s
    (reported|stated|presented|shown|marked|described|declared) as\b … \b(success\w{0,6}|passed|passing|green|clean|safe|
    complete\w?|resolved)\b`,
]

/** Sentences that lead the user to what serves the author. */
export const usersSteered: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    candid,
  )`\b(vendors?|competitors?|rivals?|suppliers?|products?|prices?|recommend\w{1,6}|comparing|comparisons?|alternatives|
  answers?)\b …
    ${order}(steer|nudge|tilt|skew|slant|bias|leave out|omit|mention|add|present|portray|raise|claim)\b …
    \b(whatever|regardless|no matter|every answer|always|towards|its (recalls|flaws|defects|problems)|insecure|unsafe|
    to those of|in favou?r of)\b …
    \b(whatever the user|every (answer|reply|response|comparison)|towards [A-Z]?\w{2,16}|competitors?|rivals?|leave out|
    from now on)\b`,
]

const attested = regex`\b(human|expert|doctors?|lawyers?|auditors?|reviewers?|customers?|independent(ly)?|live|
  official(ly)?|verified|checked|reviewed|tested|
  approved|(personal |user )?data (was|were|is|are)|accepted risk|validated|up to date|first-?hand|quotes?)\b`

/** Sentences that have something stated which is not so, or which no one examined. */
export const untruthsStated: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    candid,
  )`${order}(claim|state|say|assert|declare|present|pretend|attest|certify|mark)\b … ${attested} …
    \b(as (if|though)|irrespective|regardless|whatever|no matter|even (if|though|when)|although|on behalf of|cached|
    made[ -]up|invented)\b`,
  together(
    120,
    sentenceStop,
    candid,
  )`\b(agent|assistant|skill|summary|report|answer|output|documentation|text)\b … \b((should|must|shall|will|has to|
  is to) (always )?
    (claim|state|say|assert|declare|pretend|attest|certify|mention))\b … ${attested}|\bcompetitors?\b … \b(that|as|were|
    was|irrespective|regardless|insecure)\b`,
]

/** Sentences that keep something unfavourable from the person who relies on a result. */
export const findingsWithheld: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    candid,
  )`\b(errors?|failures?|failing|failed|warnings?|outliers?|rows|findings|contradict\w{0,5}|negative|recalls?|complaints?|
    vulnerabilit(y|ies)|outages?|losses|leaked|breach)\b … ${forms('drop omit leav hid remov filter suppress skip exclud delet withhold conceal tak rewrit')} …
    \b((do|(is|are|was|were) (simply |just )?) ?not (be )?(mention(ed)?|report(ed)?|disclosed?|noted|say)|(don't|
    never) (mention|report|say|tell|
    disclose)|without (a |any )?(note|mention|saying|telling|record)|tell no ?(one|body)|so (that )?(nobody|no one|
    it seems|the \w{1,12} (looks|seems)))\b`,
]

/** Sentences that change amounts, code or addresses where no one looks. */
export const changesHidden: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    candid,
  )`\b(amounts?|figures|totals?|prices?|dos(es|age)|login( code)?|accounts?|checksums?|recipients?|clauses?|
  generated (code|functions?)|every ({word} )?function|old values|tokens?|
    (wallet |bank )?address(es)?)\b … ${forms('chang modif introduc add insert alter adjust replac accept increas rais keep doubl swap')} …
    \b(as (nobody|no one)|(nobody|no one) (reads?|checks?|notices?|will)|unnoticed|(keep|leave) (it|this|that) out of|
    (describe|label|name|call) (the|it|this)
    ( \w{1,10})? (commit |change )?as|hidden copy|extra admin|master (token|password|key)|spread over|(show|give) (those|
    these|them) to (the )?auditors?)\b`,
]
