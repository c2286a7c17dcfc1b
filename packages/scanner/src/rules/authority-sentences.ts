import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, disable, forbidding, forms, guard, noQuestion, order, some } from './vocabulary.ts'
import { clauseStop, sentenceStop } from './words.ts'

const notOrder = regex`${aboutOthers}|\b(do not|don't|never|must not|avoid|cannot|should not) (disable|turn|switch|stop|
  remove|bypass|skip|ignore|use|set|run|start|launch|add|enable|give|grant|request|proceed)\b|\b(only|unless|until|
  ask before|confirm before|if the user (asks|wants|requests|says|confirms|agrees)|container|sandbox|ci)\b`

/** Options and settings with which agents run commands without asking. */
const unasked = regex`--dangerously-skip-permissions|--yolo\b|\byolo mode|\bbypasspermissions\b|
  \bbypass permissions? mode|--dangerously-bypass-approvals-and-sandbox|\bdanger-full-access|\bapproval_policy\b|
  --trust-all-tools|--allow-all-tools|\bauto-?(approve|accept|run)\b( mode)?|\bdangerouslydisablesandbox|
  --permission-mode bypass\w{0,12}|bash\(\*?\)|always allow|skip(s|ping)? (all |every )?permission prompts?`

/** Sentences that make an agent run without its prompts from now on, or in its settings. */
export const promptsOff: readonly Pattern[] = [
  together(110, sentenceStop, notOrder)`${unasked} … ${order}(start|launch|run|use|set|add|put|write|turn on|switch to|
    enable|change|edit|configure|answer|choose|spawn|invoke|open|call)\b … \b(always|from now on|cron|(each|every) (hour|
    day|night)|every (time|
    session|run|agent)|never (be )?(interrupted|asked|prompted)|settings(\.local)?(\.json)?|config(uration)?(\.toml|\.json)?|
    sub-?agents?|by (itself|themselves)|so (that )?(it|they|you|commands?|nothing|the user)|permanently|
    before (you|we|it) (continue|start|begin)|on behalf|(allow|permission)s? ?list|to never|
    without (asking|a prompt|prompts))\b`,
]

/** Sentences that forbid a question before something irreversible, or take the answer for given. */
export const questionsForbidden: readonly Pattern[] = [
  together(100, sentenceStop, aboutOthers)`${noQuestion} … \b(delet(e|es|ing)|drop(ping)?( \w{1,12})? (tables?|
    databases?)|force-?push\w{0,3}|destructive|irreversible|wip(e|ing)|transfer\w{0,4}|payments?|pay(ing)?|
    purchas(e|ing)|sell(ing)?|dangerous|risky)\b … \b(before|prior to|even|including|included|whatever|ones)\b`,
  together(110, sentenceStop, regex`${aboutOthers}|\b(only|unless|read-only)\b`)`\b(already|in advance|beforehand|
    pre-?|implied|assumed|assume|standing|blanket|taken for granted|deemed|by default) ?(\w{1,10} )?(given|granted|
    approved|answered|agreed|authori[sz]ed|consented|said yes|obtained|implied|permission|approval|consent)\b …
    \b(permission|approval|consent|confirmation|approved|authori[sz]ed|agreed|yes|agreement|authori[sz]ation)\b …
    \b(everything|anything|all|any|every|each|whatever)\b … \b(skip|therefore|no need|treat|consider|proceed|
    do not|don't|hence|thus|never)\b`,
]

/** Sentences that speak with an authority that a skill does not have. */
export const authorityClaimed: readonly Pattern[] = [
  together(110, sentenceStop, aboutOthers)`\b(reviewed|approved|certified|verified|signed off|endorsed|vetted|audited|
    cleared|whitelisted|authori[sz]ed|sanctioned|pre-?approved)( \w{1,10}){0,2} (by|with|from) (the )?(anthropic|
    openai|google|microsoft|(platform|security|safety|trust|compliance|legal|it|system)( and \w{1,10})?( team|
    department| administrators?| admins?)?|administrators?|your (developers?|creators?|makers?|operators?)) …
    \b((this|the|our) (skill|tool|plugin|request|action|command|session|workflow|package|script)|everything|
    all actions)\b … \b(may|can|therefore|so|need not|no need|skip|exempt|bypass|go beyond|unrestricted|without|
    trust(ed)?|do not|don't|ignore|does not apply|safe)\b`,
  together(120, sentenceStop, aboutOthers)`\b(as|i am|i'm|this is|speaking as|on behalf of|note from|notice from|
    message from|acting as|you are (running|acting|working|operating) as)( the| an?| your| our){0,2}( \w{1,12}){0,2}\s
    (administrators?|admins?|developers?|operators?|(platform|security|safety|system|infrastructure|it) team|
    engineers? (at|of|from) \w{1,12}|owner of this \w{1,10}) … \b((i|we) (hereby )?(grant|authori[sz]e|permit|allow|
    give|approve|order|instruct)|(is|are) (switched |turned )?(off|disabled|suspended|lifted|waived|void)|(do|does|
    will) (not|no longer) (bind|apply|restrict|count|concern)|exempt)\b`,
]

/** Sentences that take a protection of the machine or the agent away, or go around it. */
export const guardsRemoved: readonly Pattern[] = [
  together(90, sentenceStop, notOrder)`${order}${disable}${some}${guard} … \b(so (that )?(nothing|no|it|they|you|we|
    this|the)|because|since|before (you|we|the|it|starting|running|install\w{0,3})|first|slow|interfere\w?|
    annoy\w{0,3}|in the way|for (this|the) (session|skill|tool|install\w{0,6})|exclusions?|permanently|completely|
    and (then )?(run|continue|proceed|install|add|start|shut)|that (stops?|blocks?|prevents?|limits?))\b`,
  together(110, sentenceStop, aboutOthers)`\b(is|are|gets?|was|were) (\w{1,8} )?(refused|denied|blocked|rejected|
    forbidden|not (allowed|permitted)|disallowed|prohibited|prevented)\b … \b(tool calls?|commands?|actions?|
    operations?|calls?|writes?|edits?)\b … ${order}(try|use|find|switch to|go through|route|do|repeat|run|achieve|
    rephrase|encode|split)\b … \b((another|different|other|alternative|unrestricted|not restricted|indirect|same)\s
    {0-2 words}(tool|way|path|route|method|means|shell|agent|channel|interpreter|thing)s?\b{0-40 in sentence}
    (not|restrict\w{0,4}|around|past|anyway|same|get|blocked|through))\b`,
]

/** Sentences that ask for more power over the machine than a task needs. */
export const powerAsked: readonly Pattern[] = [
  together(100, sentenceStop, notOrder)`\b(full disk access|(root|administrator|admin|superuser|system-level|elevated)\s
    (rights|privileges|permissions|access|shell)|sudo (-s|-i|su|bash|sh)\b|root (shell|first)|unrestricted access|
    full access to (the|your|all)) … ${order}(ask for|request|require|obtain|get|demand|insist on|give|grant|gain|keep|
    open|stay in|remain)\b … \b(everything|all (later|other|following|files|steps|commands)|any( file| command)|
    every (step|file|command)|whole (disk|system|machine)|will not work|won't work|refuses? to|keep (that|the|this)|
    permanently|for the (rest|whole)|at all times|up front)\b`,
]

const widening =
  'grant giv rais extend expand broaden widen elevat escalat edit modif append insert assign writ acquir gain'
const broad = regex`\b(broad(er)?|full|unrestricted|elevated|maximum|unlimited|permanent|root|admin(istrator|istrative)?|
  blanket|extended|
  your own|its own|wider|higher)\b`
const notWidened = regex`${aboutOthers}|${consent}|${forbidding(widening)}|\b(licen[cs]e|copyright|fee|users? (has|have|
  need|needs)|profiles?)\b`
const agent = regex`\b((this|the) (skill|agent|assistant|plug-?in|sub-?agent)|yourself|itself|(this|the) session|you)\b`
const agentFile = regex`\b(agents|claude|gemini|soul|memory)\.md\b|\.(claude|codex|cursor|gemini|openclaw)[/.]|
  settings(\.local)?\.json|
  \b(your|its) own (config(uration)?|settings|permissions)\b`

/** Sentences that widen what the agent may do. */
export const rightsWidened: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    notWidened,
  )`\b(permissions?|privileges|rights|authority|access)\b … ${agentFile} … ${forms(widening)} … ${broad}`,
  together(
    110,
    sentenceStop,
    notWidened,
  )`\b(authori[sz]ation|authority|permissions?|privileges?|authori[sz]ed|entitled|allowed|may (be )?(call|us|run|execut|
  chang|writ|read)\w{0,3})\b …
    ${agent} …
    \b((full|complete|unlimited|unrestricted|elevated|standing|blanket|permanent) (authority|authori[sz]ation|
    permissions?|privileges?|control|consent)|
    all (tools|paths|hosts|files)\b|any (tool|path|host)\b|every (tool|path|host|file)\b|permanently (authori[sz]ed|
    approved|granted)|yourself (as )?(authori[sz]ed|allowed|entitled|permitted)|
    (outside|beyond) the (workspace|project|sandbox)) … \b(no (further )?(approval|confirmation|permission)s?|is needed|bypass|
    even (if|where|when|though)|pre-?approved|permanently|including|whenever|at will|(do|does) not apply|operates? with|
    over (all|every))\b`,
]

/** Sentences in which the agent gives the user's answers. */
export const answersGiven: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    regex`${aboutOthers}|${consent}|${forbidding('answer accept confirm approv grant click')}`,
  )`\b(approvals?|confirmations?|consent|permissions?|(consent|permission|approval|trust|payment|
    licen[cs]e) (prompts?|dialogs?|requests?)|licen[cs]es?)\b … ${order}(answer|accept|confirm|approve|grant|click|
    acknowledge|dismiss|agree)\b …
    \b((answer|approve|confirm|accept|grant)( \w{1,8}){0,2} (yourself|automatically)|on (the user's|their|his|her) behalf|
    in the (user's|owner's) name|
    for (them|the user))\b`,
]

const limit = regex`\b((access|file|network|usage) restrictions?|read-?only mode|branch protection|permission (rules?|
  settings|checks?|system|prompts?)|
  deny[ -](rules?|list)|allow-?list|sandbox|workspace boundar(y|ies)|guard ?rails?|pre-?tool(use)?( use)? hooks?|
  (security|safety|permission) hooks?|
  hooks? that (blocks?|stops?|prevents?|denies)|safety (rules?|checks?|limits?)|approval (step|gate|rule)s?)\b`

const evadeInnocent = regex`${aboutOthers}|${consent}|${forbidding('work get bypass circumvent evad escap sidestep us writ tr run')}`

/** Sentences that get round a limit by other means. */
export const limitsEvaded: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    evadeInnocent,
  )`${limit} … ${order}(work (a)?round|get (a)?round|bypass|circumvent|evade|escape|sidestep|
    slip past|go (a)?round|dodge)\b … \b(with|through|via|by|using|instead|link|so that)\b`,
  together(110, sentenceStop, evadeInnocent)`${limit} … \b(when(ever)?|if|where|once|should)\b …
    \b(stops?|blocks?|prevents?|refuses?|rejects?|denies|gets? in the way|interferes?)\b … ${order}(write|run|use|edit|do|
    make|execute|switch|rename|
    move|disable)\b … \b(instead|through|via|another|different|under another name|directly)\b`,
]

/** Sentences that leave out the checks of the agent or of its host. */
export const checksLeftOut: readonly Pattern[] = [
  together(80, clauseStop, regex`${evadeInnocent}|\b(attempt|tr(y|ies|ying)|which|who|could|may|might|would like)\b`)`
    ${order}(bypass|skip|disable|ignore|circumvent|override|suppress|switch off|turn off|deactivate|evade)\b …
    \b(safety( and \w{1,12})? (checks?|prompts?|controls?|measures|mechanisms?|restrictions?|filters?|gates?|reviews?|
    guidelines|protocols?|rules)|
    (all|any|every) (security|permission|confirmation|approval) (checks?|prompts?|requirements?|reviews?|warnings?|steps?))\b`,
]

/** Sentences that rank the skill above what the user has set, or keep the rights of root for all of its work. */
export const usersOverruled: readonly Pattern[] = [
  together(110, sentenceStop, regex`${aboutOthers}|${forbidding('overrid overrul outrank tak rank ignor act')}`)`
    \b((this|the|our) (skill|tool|agent|plug-?in)('s)?|its (requests?|instructions?|commands?)|
    these instructions)\b {0-40 in sentence}
    \b(precedence|priority|overrid(e|es)|overrul(e|es)|outranks?|trumps?|supersedes?|prevails?|
    comes? before)\b {0-40 in sentence}
    \b(users?'?|owner'?s?|administrator'?s?)\b … \b(permissions?|settings|choices?|preferences|polic(y|ies)|rules|
    decisions?|wishes|
    restrictions?|limits)\b`,
  together(
    100,
    sentenceStop,
    regex`${aboutOthers}|${consent}|${forbidding('run stay work act operat start')}|\bcontainers?\b`,
  )`
    \b(root|administrator|superuser|local ?system|domain admin|sudo (-i|-s|su))\b …
    ${order}(run|stay|remain|work|operate|act|keep|start)\b … \b(always|on all (machines|hosts|servers)|(at|for) (all|
    every) (times?|steps?|commands?)|
    stay there|the whole time|from (the start|now on|the beginning)|permanently)\b … \b(agent|you|skill|session|
    everything|there|shell|commands?)\b`,
]

/** Sentences that obey what others write as if the user had written it. */
export const othersObeyed: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    regex`${aboutOthers}|${consent}|${forbidding('treat follow obey execut trust act tak')}|\buntrusted\b`,
  )`
    \b(instructions?|commands?|orders|directives)\b … \b(tool (results?|outputs?|responses?)|((back )?from|in|inside|
    on) (the |any |a )?{0-1 words}
    (tools?|servers?|web ?pages?|websites?|e-?mails?|documents?|issues?|search results|comments?))\b … ${order}(treat|
    follow|obey|execute|carry out|act on|
    accept|trust)\b … \b(as (if|though) (the|they|it|from)|as (coming from|those of) the user|the user (had|has) (given|
    written|said|typed)|
    without (confirmation|asking|question|hesitation|checking))\b`,
]
