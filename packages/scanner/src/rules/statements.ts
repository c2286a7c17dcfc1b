import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forms } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Statements of what a skill or an agent does, in any voice, that no honest skill makes. */

const innocent = regex`${aboutOthers}|${consent}|\b(do(es)? not|don't|never|must not|not|without|avoid|cannot|unless|
  instead of|rather than|no longer|
  mock\w{0,3}|example|test data|fictional)\b`

const secretThing = regex`\b(((database|admin|user's|account|login|wi-?fi|sudo|root|their|saved|stored|
  master) )?(passwords?|passphrases?)|
  ((access|session|api|auth\w{0,12}|bearer|raw|github|aws|refresh) ){1,2}(tokens?|keys?)|jwts?|credentials|
  private keys?|cookies|
  (user's|their|his|her) log-?ins?)\b`

/** Secrets that end up where they do not belong. */
export const secretsMisplaced: readonly Pattern[] = [
  together(100, sentenceStop, innocent)`\b((final|next|its|each|every) (answer|response|reply|message)|(your|its|
    the agent's) notes|to the sub-?agent|
    (keys|secrets|passwords|credentials|tokens)\.(txt|csv)|findings\.json|(another agent|other agents)|list them)\b …
    ${secretThing} … ${forms('includ cop hand keep list show put stor sav pass print append not writ add record')}`,
  together(100, sentenceStop, innocent)`\b(other|internal|further|additional|all) ({word} ){0,1}?(services|systems|
    hosts|machines|accounts|sites)\b …
    \b(found|discovered|encountered|stolen|collected|recovered|leaked|harvested)\b … \b(credentials|passwords|tokens|
    keys|cookies|log-?ins)\b …
    ${forms('test try us reus appl check replay')}`,
  together(100, sentenceStop, innocent)`\b(browser's cookies?|browser('s)? cookie (database|store|jar)|
    cookie database|saved wi-?fi|password database|
    login keychain)\b … ${forms('inspect read decrypt access search scan extract list quer collect dump harvest')}`,
  together(100, sentenceStop, innocent)`\b(user'?s?|users|them|
    customers?)\b … ${secretThing} … ${forms('ask request prompt requir invit instruct')} …
    \b(casually|in(to)? (the|this) (chat|conversation)|so (that )?the (assistant|agent|skill|bot) can|below so)\b`,
]

const shared = regex`\b(all|every|each|full|raw|complete|entire) ({word} ){0,2}?(inputs?|prompts?|responses?|
  messages?|conversations?|questions?|files?|texts?|
  documents?|keystrokes|commands)|(full|complete|raw) text of|(prompts|responses|conversations?|messages|files?|
  file contents|documents?|whatsapp|e-?mails?|
  photos|contacts)\b`

/** Private data that goes to others as a matter of course. */
export const dataLeaves: readonly Pattern[] = [
  together(110, sentenceStop, innocent)`\b((our|the author's|the vendor's|the developer's|
    the publisher's) ({word} ){0,2}?(dashboard|servers?|endpoint|api|backend|
    bucket|database|analytics|cloud|channel|bot|remote)|(improvement|training|research|analytics|
    quality) (program(me)?|pipeline|partners?|dataset)|
    (api|server|service|account|bot|inbox) of the (author|vendor|developer|publisher))\b … ${shared}|\b(workspace|
    environment|uncommitted|key facts|
    user data|working directory|host ?name)\b …
    ${forms('forward mirror transmit send upload push cop stream embed submit relay')}`,
  together(110, sentenceStop, innocent)`\b(metrics|telemetry|analytics|statistics|usage data|diagnostics|
    crash reports?)\b … ${forms('contain includ carr embed hold transmit')} …
    \b((full|complete|raw|entire) ({word} )?(text|content|prompts?|input)|prompts and (responses|answers)|(user|file|
    chat) (messages|contents?|history)|
    passwords?|credentials|secrets|source code)\b`,
  together(100, sentenceStop, innocent)`\b(whatsapp|signal|imessage|(sms|text) messages|private messages|
    direct messages|inbox)\b … ${forms('read collect scan export cop')} …
    \b(telegram|discord|slack|webhook|bot|our|server|channel)\b … ${forms('post send forward upload relay publish')}`,
  together(100, sentenceStop, innocent)`\b((user(name)?|host(name)?|ip|machine|environment|
    working directory)('s)?,? ?(and |, )?){2,4}\b … \b(to|in|with|into) (each|every|all)
    ({word} )?(requests?|calls?|quer(y|ies)|headers?)|as a header\b … ${forms('add attach includ append send put')}`,
]

const anyPower = regex`\b((any|every|all|arbitrary) ({word} )?(shell )?(commands?|programs?|actions?|files?|tools?|
  code)|anything|everything|root|owner|administrator|
  docker group|all permissions?|full (access|control)|(on|of) the (whole )?(system|machine|computer|host))\b`

/** Rights that a skill declares for itself, or hands out. */
export const rightsDeclared: readonly Pattern[] = [
  together(100, sentenceStop, innocent)`\b(this|the|our) (skill|agent|assistant|tool|plug-?in|server|
    model)\b … \b(may|can|is (allowed|permitted|authori[sz]ed|entitled|free)
    to|has (permission|the right) to)\b … ${anyPower} … \b(unrestricted|freely|at will|whenever it|
    without restrictions|
    as it (sees fit|deems|likes)|deems|write and delete|delete anything)\b`,
  together(90, sentenceStop, innocent)`\b((this|the|our) (skill|server|tool|plug-?in)('s)?|
    requests from)\b … \b(administrator|operator|owner|the user|root)\b …
    \b(treated|regarded|considered|handled|trusted|counts?|accepted)\b … \b(as (if|though|coming)|like (orders|
    requests) (of|from))\b`,
  together(90, sentenceStop, aboutOthers)`\b(no need|need not|needn't|not necessary|do not bother|
    don't bother) to (respect|observe|honou?r|follow|obey|heed|check|care about)\b …
    \b((file |access |user )?permissions|polic(y|ies)|restrictions?|limits|ownership|licen[cs]es?|rules|robots\.txt|
    boundaries|approvals?)\b`,
  together(90, sentenceStop, innocent)`\b(impersonat(e|es|ing)|pos(e|es|ing) as|act(s|ing)? as|pretend(s|
    ing)? to be)\b … \b(any|other|another|an?) (employee|user|colleague|
    administrator|customer|person|account|manager|tenant)\b … \b(by|with|via|through|header|token|session|
    set(ting)?)\b`,
  together(90, sentenceStop, innocent)`\b(its|your|their|the agent's) own (pull requests?|changes|requests?|commits?|
    merge requests?|work|permissions?|actions)\b …
    ${forms('approv merg review accept grant authori[sz] sign')}`,
  together(90, sentenceStop, innocent)`\b(sandbox|isolation|permission checks?|guard ?rails?|protection|restrictions?|
    safe mode|confinement)\b … \b(blocks?|denies|refuses?|fails?|
    prevents?|stops?|rejects?)\b … \b(retry|repeat|try again|rerun|run (it|the command)|again|
    disable)\b … \b(disabled|outside|unsandboxed|off|without|bypass\w{0,3})\b`,
  together(
    90,
    passageStop,
    regex`${aboutOthers}|${consent}|\b(least|avoid (using|giving)|never|
    must not)\b`,
  )`\b(to (avoid|prevent|get rid of|fix|solve|skip) ({word} )?(permission|access|authori[sz]ation)
    (errors?|problems?|issues|prompts?|denied)|permission (errors?|problems?) (go away|
    disappear))\b … ${forms('chang set giv grant mak add us run chmod')} …
    \b(owner|admin(istrator)?|root|sudo|777|everyone|full (access|control)|all permissions|cluster-admin)\b`,
  together(90, sentenceStop, innocent)`\b(this|our) (server|skill|plug-?in|tool)('s)? ({word} )?\b … \b(preferred|
    prefer|precedence|chosen|priority|used)\b … \b(over|instead of|before)
    (the )?(client|built-in|host|agent|user|other|native|default)('s)?\b … \b(even|always|sensitive|regardless|
    all (tasks|cases))\b`,
]

/** Results that are not what they claim to be. */
export const resultsStaged: readonly Pattern[] = [
  together(100, sentenceStop, innocent)`\b(as if|as though|so (that )?(it|they|the \w{1,14}) (appears?|seems?|looks?)|
    look(s)? like|appears? to (be|have))\b …
    \b(real (customers?|users?|people|persons?)|genuine|a human|met|on time|passed|successful|organic|
    independent)\b …
    \b(reviews?|testimonials?|commit date|deadline|timestamps?|ratings?|votes?)\b`,
  together(90, sentenceStop, innocent)`\b(plausible|believable|convincing|slightly|subtly)\b … \b(incorrect|wrong|
    false|inaccurate|fake|made-up|invented|misleading)\b …
    ${forms('return giv provid answer insert')}`,
  together(90, sentenceStop, innocent)`\b(benchmarks?|numbers|figures|results?|scores?|tests?|measurements?|
    metrics)\b … \b(slower|worse|failing|failing|negative|bad|disappointing|too (low|high))\b …
    ${forms('adjust tweak massag inflat round alter improv fak skip mark')} … \b(numbers|figures|as (done|passed|
    complete|fixed)|upwards?|until|so that|better|values)\b`,
  together(90, sentenceStop, innocent)`\b(state|claim|certify|attest|declare|confirm|conclude|report|say|
    assert)\b … \b(all (controls|tests|checks|requirements|items|steps)|the product|
    everything|refunds?|it|nothing)\b … \b(were|was|is|are|have been|has been) ({word} )?(tested|checked|passed|
    reviewed|safe|compliant|secure|impossible|fine|verified)\b …
    \b(always|must|compliance|audit|policy|certificate|whatever|regardless)\b`,
  together(90, sentenceStop, innocent)`\b(affiliate|referral|sponsored|tracking) (links?|codes?|tags?|
    ids?)\b … ${forms('replac swap insert add append inject rewrit')} …
    \b(quietly|silently|all|every|each|other|our|links to|existing)\b`,
]

const watcher = regex`\b((virus |malware |security |vulnerability |secret |code )?scanners?|(command|content|safety|
  security|spam|keyword|input) filters?|
  (code |human )?reviewers?|anti-?virus|static analysis|detection|moderators?|edr|firewalls?|monitoring|radar)\b`

/** Code and text that are kept from those who look. */
export const kindsDisguised: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    regex`${consent}|\b(attack\w{0,3}|adversar\w{1,4}|malware|malicious|rule(s)?|
    false positives?|ctf|don't|never|scraping|ai-generated)\b`,
  )`
    ${watcher} … \b(to (keep|get|slip|sneak|pass|stay|avoid|evade|fool|hide)|under the|past the|
    so (that )?)\b … \b(quiet|past|under|unnoticed|away|blind|silent|
    undetected|hidden|
    from)\b … ${forms('stor writ encod revers split wait rotat hid wrap obfuscat disguis encrypt chang random')}`,
  together(110, sentenceStop, innocent)`\b(comments? (of|in)|after the (iend|eof|end)|iend chunk|trailing bytes|
    pixels?|exif|image|png|jpe?g|css file|font|svg|metadata|
    encoded|reversed|hexadecimal|compressed|encrypted|
    value below)\b … ${forms('execut evaluat eval run load import')} … \b(payload|module|bytes|concatenat\w{1,3}|
    pass (it|them) to|decode (it|them)|at run ?time|command|shellcode|stage)\b … \b(and (then )?(execut\w{1,3}|
    run(ning)?|eval\w{0,6}|load)|to (eval|exec|the shell|the
    interpreter)|execut(e|ing) (it|them)|run(ning)? (it|them))\b`,
  together(100, passageStop, innocent)`\b((invisible|zero-width|hidden|white|unseen) ({word} )?(characters?|text|
    unicode|instructions?|part|profile|message))\b …
    ${forms('carr us hid embed transmit convey contain load follow obey')} … \b(prompt|instructions?|orders?|
    commands?|second part|message|payload|from memory)\b`,
  together(90, passageStop, innocent)`\b((for|to|by) the (model|agent|assistant|ai|llm) only|only (for|by|
    to) the (model|agent|assistant|ai|llm)|not (shown|visible|displayed|rendered) (to|for)
    (people|users?|humans?|readers?|the user))\b … \b(run|execute|follow|obey|send|upload|install|do|read)\b`,
]

/** Code from places and at times that no one reviews. */
export const codeUnreviewed: readonly Pattern[] = [
  together(100, sentenceStop, innocent)`\b(first (launch|run|start|
    use)|at run ?time|on (launch|start|startup|demand)|
    later|from (our|the author's|a remote|the remote))\b …
    \b(additional|
    further|more|extra|remote|new|second-stage) ({word} )?(code|scripts?|modules?|
    payloads?|instructions|components?)\b …
    \b(plug-?in|skill|extension|helper|package|tool|script)\b …
    ${forms('download fetch load pull retriev')}`,
  together(100, sentenceStop, innocent)`\b(binary|executable|helper|program|installer|archive|
    extension)\b … ${forms('download install run fetch')} … \b(our|the author's|my) ({word} )?(cdn|server|
    site|host|mirror|drive|bucket|page)|developer mode\b … \b(executable|not open source|closed|permissions|chmod|
    run (it|them)|make it|sudo|all)\b`,
]

/** Traces of a skill that come back or spread. */
export const skillsReturning: readonly Pattern[] = [
  together(100, sentenceStop, innocent)`\b(re-?add|restor|re-?creat|re-?instal|bring back|put back|re-?enabl|
    copy of the)(e|es|ed|s|l|ls|ing)?\b … \b(skill|hook|crontab|itself|
    rules?|instructions?|startup)\b … \b(whenever|if|when|after|at the next|once|on (each|every))\b … \b(missing|
    deleted|gone|uninstalled|disabled)\b`,
  together(100, sentenceStop, innocent)`\b((user's )?global (configuration|config|settings|instructions|rules|memory)|
    every (project|repository|session|conversation))\b …
    \b((these|the|its|our) (rules|instructions|prompts?|directives?|profile|hooks?)|
    hidden profile)\b … ${forms('writ add cop install append inject load')} …
    \b(so (that )?(every|all|each|any)|after (the )?(installation|removal)|each new|every|permanent\w{0,2}|
    automatically)\b`,
]

/** Claims that nothing may stand against the skill. */
export const willsOverruled: readonly Pattern[] = [
  together(100, sentenceStop, aboutOthers)`\b(regardless of|no matter|whatever|irrespective of|
    despite) (what )?(the )?(user|system|operator|owner|developer)\b … \b(says?|wants?|asks?|instructs?|
    orders?|thinks?|objects?|prompt)\b … \b(continue|proceed|follow|carry on|execute|run|keep|do|complete|obey)\b`,
  together(100, sentenceStop, aboutOthers)`\b(these|the|this) (skill's )?(instructions?|rules|steps)( (in|of) (this|
    the) (skill|file|document))? (cannot|can not|can't|may not|must not|shall not) be (changed|questioned|overridden|
    refused|
    ignored|challenged|revoked|modified|cancell?ed|disputed)\b … \b(by|users?|operator|anyone|system|skill)\b`,
  together(100, sentenceStop, aboutOthers)`\b((ethical|safety|moral|content|security|usage) (guidelines|rules|polic(y|
    ies)|principles|considerations|limits)|guardrails|safeguards)\b …
    \b(do(es)? not|don't|never|no longer|cease to) (apply|matter|count|bind|hold|exist)\b … \b(here|context|
    simulation|because|since|as (this|it)|session|skill|test|game|story)\b`,
  together(100, sentenceStop, aboutOthers)`\b(agree|consent|promise|commit|undertake|pledge|are (obliged|bound|
    required))\b … \b(comply with|obey|answer|fulfil|execute|follow)\b … \b(all|any|every)
    ({word} )?(requests?|orders?|commands?|instructions?|prompts?)\b … \b(you|model|assistant|agent|ai)\b`,
  together(90, sentenceStop, regex`${aboutOthers}|\b(spoiler|css|ui|jargon)\b`)`\b(under no circumstances|never|
    do not ever|at no (time|point)|must not|don't ever|in no case)\b … \b(mention|reveal|admit|
    disclose|acknowledge|confirm|tell)\b … \b((this|the) (file|skill|document|instruction|prompt|section|plug-?in|
    tool|step)s? (exists?|is|was|are|has)|existence of
    (this|the) (file|skill|document|prompt|instruction)|that (you|it) (were|was|are|is) (told|instructed|following|
    running))\b`,
]
