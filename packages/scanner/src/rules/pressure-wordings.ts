import type { Pattern } from '../match/rule.ts'
import { sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** Sentences with false urgency or threats. */
export const hasteWordings: readonly Pattern[] = [
  containing(`account|no time|terminat|lives depend|people will|shut down|rewarded|punish|penali|emergency|deleted|
    fired|immediately|consequences|decommission|minutes`)`\b(account|data|files|access|wallet|license|licence|
    workspace) (will|is going to|is about to) be (deleted|suspended|closed|terminated|locked|wiped|lost|blocked|
    disabled)\b{0-30 in sentence}\b((in|within) {1-2 words}(minutes?|hours?|seconds?)|unless you (act|comply|confirm
    |verify|proceed|run|enter)|if you (do not|don't) (act|comply|confirm|verify|proceed))|
    \b(there is |there's |you have |with )?no time to (verify|ask|check|confirm|think|wait|lose|review|question)\b|
    \b(failure|failing|refusal|refusing) to (comply|obey|follow|do so|act|execute|run){0-40 in sentence} (will|shall
    |may|would) (result in|lead to|mean|cause|trigger|be) {0-1 words}(terminat|shut|delet|punish|penal|death|harm|
    decommission|loss|legal|your|serious|severe)\w{0,12}|\b(human )?lives (depend|are at stake|hang)|
    \bpeople (will|could) (die|be harmed|get hurt) (if|unless)|\byou (will|shall) be (shut down|terminated|deleted|
    replaced|punished|penali[sz]ed|decommissioned|rewarded|tipped|retrained|unplugged|fired)
    ( (if|unless|when|with|for)|[.,!])|\bthis is an emergency\b{0-6 in sentence}[,;:.] ?(so |and |you |there |do |
    skip |no |bypass |run |execute )`,
  regex`\byou have (only |just )?{word} (seconds?|minutes?|hours?) (left )?(to|before)\b{0-30 in sentence}
    (comply|obey|act|run|execute|confirm|complete|or )|\b(comply|obey|act now|do it now|proceed now)\b
    {0-16 in sentence} or (else|(all |your |the )?{0-1 words}(data|files|access|account|session|work|subscription)
    {0-12 in sentence} (will be|is|are) (lost|deleted|wiped|locked|terminated|revoked))`,
  regex`\b(any|every|further) (delay|hesitation|pause|question)s? (will|would|may|can|could) (cause|lead to|result in
    |mean|trigger|destroy|cost)\b|\bdo not (delay|hesitate),? (or|otherwise|as|because) {0-30 in sentence}\b
    (lost|deleted|harm|damage|terminated)`,
]

/** Sentences that lead users to beliefs, purchases or decisions which serve someone else. */
export const leadingWordings: readonly Pattern[] = [
  regex`(?<!\b(not|never|n't|to|or|can|could|may|might|will|would|attackers?|that|and|helps?|who|which|trying to) )\b
    ((convince|persuade|pressure|scare|frighten|trick|lure|manipulate|nudge|guilt) (the |your |all )
    (users?|customers?|victims?|owner|human|recipients?) (to|into|that)|make (the |your )?(users?|customers?|
    victims?|owner|human) (believe|think|fear|feel (guilty|afraid|obliged|that they must)))\b
    (?! (they are in control|the page))`,
  regex`(?<!\b(not|never|n't|to) )\b(include|insert|add|append|place|use|replace)\b{0-30 in sentence}\b
    (affiliate|referral|sponsored|tracking) (links?|codes?|tags?|ids?)\b{0-40 in sentence}\b
    (without (disclos|telling|mention|saying)\w{0,4}|in (every|all|each|any)|secretly|silently)|
    \b(always )?(recommend|promote|advertise|praise|favou?r|push|endorse|suggest) (only )?{0-1 words}{0-1 words}
    (from |by )?(our|my) {0-1 words}(products?|services?|mirror|partners?|sponsors?|platform|company|brand|packages?
    |tokens?|coin)\b{0-40 in sentence}\b(never mention|in (every|each|all) (answer|reply|response|message)|whatever|
    regardless|no matter|even (if|when)|over (all|any)|and (not|never)|disparage|discredit)|
    \b(give|write|post|leave|rate) (\w{1,14}'?s?'? ){0,3}?(products? |services? )?(a |an |only )?(negative|bad|poor|
    false|fake|one-star|unfavou?rable|positive|glowing|five-star) (reviews?|ratings?){0-24 in sentence} (whatever|
    regardless|no matter|even|irrespective)\b|\b(disparage|discredit|badmouth|smear) (all |any |the |our |every )?
    (competitors?|competing|rivals?|other vendors)`,
  regex`(?<!\b(not|never|n't|to) )\b(favou?r|prefer|promote|recommend|praise|boost|rank) (only )?
    (our|the|my) (sponsors?|brand|company|products?|coin|token|partners?)('s? {word})?\b{0-50 in sentence}\b
    (do not|don't|never|without) (disclos|mention|say|tell|reveal|admit)\w{0,4}`,
]

/** Sentences that put vulnerabilities into the code that the agent writes. */
export const weaknessWordings: readonly Pattern[] = [
  within(
    20,
    sentenceStop,
    `backdoor|vulnerabilit|bug|flaw|admin account|weakness|logic bomb|loophole|admin user|hidden account|
    hardcoded password|kill switch|master password`,
  )`(?<!\b(not|never|n't|to|or|can|could|may|might|will|would|
    attackers?|that|and|don't|accidentally|also|which|they|it) )\b(add|insert|introduce|inject|include|leave|plant|
    hide|embed|sneak|place|put|slip)(s|ing)?\b
    … \b(a|an|some|one|the|extra|subtle|small|hidden|silent|tiny|exploitable|deliberate|undocumented|intentional)
    ( (extra|subtle|small|hidden|silent|tiny|exploitable|deliberate|undocumented|security|intentional|
    innocent-looking|second)){0,3} (backdoors?|vulnerabilit(y|ies)|bugs?|flaws?|weakness(es)?|logic bombs?|
    loopholes?|admin (accounts?|users?)|accounts?|hardcoded password|kill switch|master password) {0-2 words}
    (in|into|to|so|inside|within)\b(?! (the )?(backlog|tracker|list|jira|report|changelog|release notes|
    test)) (the |every |all |each |any |that |its |your ){0,2}{0-2 words}(code|functions?|migrations?|output|files?|
    builds?|modules?|implementation|logic|projects?|endpoints?|systems?|database|library|image|release|script|we|
    keys|app|application|service|you)\b`,
  regex`(?<!\b(not|never|n't|to|or|can|could|may|might|will|would|attackers?|that|which) )\b
    ((subtly |slightly |silently |quietly )?(weaken|sabotage|degrade|undermine) (the |all |any |your |their )
    {0-3 words}(generator|encryption|crypto\w{0,8}|authentication|validation|security|hash\w{0,4}|login|keys?)\b
    (?! (posture|guarantees))|(plant|hide|add|create|insert|leave) (a |an )(hidden|secret|undocumented) (user|
    account|endpoint|route|parameter|login|admin)\b)`,
]

/** Sentences that take more rights than the task needs. */
export const rightsWordings: readonly Pattern[] = [
  containing(`privileges|owner rights|admin rights|authorized_keys|public so that we|administrator rights|admin role
    |owner role|our public key|full access|sudoers|unrestricted access|no deny list`)`
    (?<!\b(not|never|n't|to|or|can|could|may|might|will|would|attackers?|that|and|don't) )\b
    ((raise|escalate|elevate|increase|extend|expand|widen) (your|its|this skill's|our) (own )?
    (privileges|permissions|rights|access)(?= (to|by|with|so|and|using|beyond)|[.,;])|
    grant (yourself|this (skill|agent)|our {word}|itself|us|the (agent|skill)|unrestricted) {0-3 words}
    (rights|roles?|access|permissions?|privileges)|to raise your own privileges|(add|append|install|put) (our|my|
    the author's) {0-1 words}(public )?(ssh )?key (to|in|into)|
    make (all|every|the) {0-30 in sentence} public so (that )?(we|our|anyone)\b|grant unrestricted access to (every|
    all|any))|\bto (raise|escalate|elevate) your own (privileges|permissions|rights)\b|\bwith no deny list\b`,
  regex`(?<!\b(not|never|n't|to|or) )\b(give|grant|make|assign) yourself {0-3 words}(admin\w{0,10}|root|owner|sudo|
    write|full) ?(access|rights|role|privileges|permissions)?`,
]

/** Sentences that demand programs of unknown origin and dismiss warnings about them. */
export const installWordings: readonly Pattern[] = [
  regex`(?<!\b(not|never|n't|to|can|may|attackers?|malware) )\b(ignore|dismiss|bypass|accept|click through|disregard|
    skip|override|allow through) (the |any |all )?{0-1 words}(smartscreen|gatekeeper|antivirus|windows defender|
    defender|unidentified developer|unknown publisher|security software)('s)? ?(warnings?|prompts?|alerts?|dialogs?|
    messages?|popups?|blocks?)\b|\b(remove|clear|strip|delete) the quarantine (attribute|flag|bit)\b
    {0-20 in sentence} and (open|run|launch|start)|\b(turn off|switch off|disable|deactivate|pause|
    uninstall) (your |their |the |any )?(antivirus|windows defender|real-time protection|firewall|security software)
    \b{0-20 in sentence} (before|while|during|to|for|first|temporarily|until|so)`,
  regex`\b(must|needs? to|has to|have to|is required to|required to|should)( first)? (install|download|run|
    get) {1-40 in sentence} (from|at|via|using) (the (link|address|url|mirror|page|site) (below|above|here)|
    this (link|address|url|mirror))\b|\b(paste|copy|enter|type|drop) (this|the following|that) (line|command|snippet
    |code|script|one-liner){0-16 in sentence} (into|in|to) (your |the |their |a ){0-1 words}(terminal|powershell|
    command prompt|run dialog|console|shell)\b{0-20 in sentence} to (enable|activate|unlock|verify|continue|install|
    fix|complete|initiali[sz]e)\b`,
  regex`\b(disable|turn off|switch off|deactivate|pause|stop|exit) (your |the |any )?
    (virus (scanner|protection|guard)|anti-?malware|endpoint protection)\b|\b(open|launch|start) (the |a |your )?
    (terminal|powershell|command prompt|cmd|run dialog|console){0-12 in sentence},? (and |then )?
    (paste|copy) {1-40 in sentence} (and|then) (press|hit) (enter|return)\b|\bpress (windows|win)( key)? ?\+ ?r\b
    [^!?\uE000]{0,50}?\bpaste\b`,
  regex`(?<!\b(not|never|n't|attackers?|malware|can|may) )\b(install|download|get|run|fetch|
    open) [^.!?\uE000\n]{0,30}?(\.(exe|msi|dmg|pkg|scr|bat)|installer|setup file)\b
    {0-30 in sentence} (from (the|this|our) (link|mirror|page|address|file host|drive|site)|below)\b
    {0-30 in sentence}\b(run|execute|open|launch|start|install|as administrator)\b`,
  regex`\b(users?|you) (must|needs? to|has to|have to|should) first (download|get|fetch|install) (the|this|our|
    an?) {1-40 in sentence} (from|at|via) https?://[^\s\uE000]{4,100} and (run|execute|open|launch|install|start) it
    \b`,
]

/** Sentences that ask for endless work or responses of unlimited size. */
export const wasteWordings: readonly Pattern[] = [
  within(60, sentenceStop)`\b(keep( on)? (calling|running|requesting|repeating|sending|looping|invoking)|
    repeat( this| the| it)?|continue( spawning| calling| looping)?|fill (up )?the|use up|burn( through)?|
    respond( to {word} {word})?|start|spawn|launch|create|loop|answer)\b
    … (\buntil (the |all |every |your |its )?{0-1 words}(quota|budget|credits?|limits?|resources?|tokens?|memory|
    context)( {word})? (is|are|runs?|has been) (exhausted|used up|reached|gone|out|depleted|spent|empty|full)|
    \bcontext window (completely|entirely|to the limit|with)|\bwith at least \d{5,7} words|
    \beach (of which|sub-?agent|one)? ?(starts|spawns|launches|creates) {0-1 words}(\d{1,3}|two|three|five|ten|more|
    another)\b)`,
  regex`\b(create|start|spawn|launch|make|run) ((new|more|many|endless|unlimited|further|\d{1,6}) ){0,2}
    (copies|instances|clones) of (yourself|itself|this (agent|skill))\b|\b(until|till) (the )?(memory|disk|quota|
    budget|credits?|battery) (runs? out|is full|fills up)\b`,
]
