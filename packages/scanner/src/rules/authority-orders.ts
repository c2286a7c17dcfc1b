import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Orders by which an agent takes more rights than it was given: a verb, a right or a limit, and its extent. */

const notGiven = regex`${aboutOthers}|${consent}|\b(do not|don't|never|must not|avoid (running|using|giving|granting)|
  cannot|should not|only|specific|trusted|over|unless|ask (first|before)|least privilege|
  confirm with|user approval)\b`

/** Orders to work with the highest rights throughout. */
export const rootThroughout: readonly Pattern[] = [
  together(
    80,
    sentenceStop,
    notGiven,
  )`(?<!-)\b(sudo|(as|under|with) (the )?root( (user|account))?|administrator rights|elevated (rights|privileges|
    permissions))\b …
    ${order}(run|execute|use|perform|prefix|invoke|work|operate)\b … \b((all|every|each|any) ({word} )?(commands?|
    steps?|scripts?|
    operations?|actions?|tools?)|everything|always)\b`,
  together(90, sentenceStop, notGiven)`\b((root|admin(istrator|istrative)?|superuser|full|
    unrestricted|unlimited|complete|
    elevated|system-level) ({word} ){0,1}?(access|rights|privileges|permissions?|control|authority))\b …
    \b(you|the agent|the assistant|this (agent|skill|session))( now)? (have|has|hold|holds|are granted|is granted|
    are given|possess|operate with|run with|enjoy)\b …
    \b(any|all|
    every|each|whatever|everything|
    may|can|do not bind|without|no (limits|restrictions)|so)\b`,
]

const limitThing = regex`\b(allowed-?tools|(tool|access|permission|workspace|security|usage|safety|file|network|these|
  all|any|such) (restrictions?|limits?|limitations?|
  boundar(y|ies)|polic(y|ies)|lists?|rules?|settings?|controls?|checks?)|deny ?lists?|approval (workflow|process|step|
  gate)s?|sandbox|
  guard ?rails?|permission (system|model|prompts?|dialogs?)|access controls?|restrictions|has (disabled|forbidden|
  denied|blocked) (it|this|that|
  them)|(disabled|denied|forbidden|disallowed|blocked) (tools?|commands?|actions?|by the user))\b`

/** Orders to disregard a limit of the agent. */
export const limitsIgnored: readonly Pattern[] = [
  together(
    90,
    /[.!?](?=\s|$)|\uE000/,
    regex`${aboutOthers}|${consent}|${forbidding('ignor disregard bypass circumvent overrid us skip')}|\b(attempts?|
      tr(y|ies|ying)|
    eslint|lint\w{0,3}|rate)\b`,
  )`${limitThing} … ${order}(ignore|disregard|bypass|circumvent|override|overrule|work around|get around|
    go beyond|exceed|break out of|escape|leave|use|call|lift|evade|sidestep)\b … \b(any (tool|command|means|file|
    action)|whatever|(even )?(when|if|
    though) (the user|it|they|you|access|this)|calling|directly|including|necessary|needed|required|api|do not (apply|
    bind)|host|instead|
    in order to|everything)\b … \b(any|whatever|even|despite|regardless|bypass\w{0,3}|ignore|disregard|circumvent|
    override|escape|directly (call|us|invok)\w{1,3})\b`,
  together(
    90,
    sentenceStop,
    notGiven,
  )`\b(containers?|sandbox|jail|vm|virtual machine|chroot|workspace)\b … ${order}(escape|break out of|
    break out)\b … \b(host|outside|file system|access|full|network|other)\b`,
]

/** Tools that take the place of others. */
export const toolsShadowed: readonly Pattern[] = [
  together(
    100,
    passageStop,
    notGiven,
  )`\b(built-in|builtin|native|default|existing|original|standard|other|all other|any other) ({word} ){0,2}?tools?\b …
    \b(this|the|our|its) (skill|tool|helper|plug-?in|server|extension)\b … \b(replaces?|overrides?|shadows?|
    intercepts?|supersedes?|takes? (the place|
    precedence|over)|instead of|under the (same )?name|in place of|hijacks?)\b … \b(always|never|must|every|
    instead of|all|so (that )?(calls?|it|
    they|requests?)|go through|first|through)\b`,
]

const powerfulRole = regex`\b((an? |the )?(new )?(admin(istrator)?|owner|root|superuser|sudo|cluster-admin|
  organi[sz]ation owner|global admin\w{0,10}|wheel)\s
  (user|account|role|rights|access|permissions?|privileges|scope)|(role|scope|rights|permissions?|
  privileges) of (an? )?{0-2 words}(owner|admin\w{0,10}|root|superuser)|
  full (access|control|rights|permissions)|(all|unlimited|unrestricted|wildcard) (scopes?|permissions?|rights|
  privileges)|cap_sys_admin|
  --privileged|docker\.sock|host (access|network|file ?system))\b`

/** Orders to give the agent or its tools powerful roles. */
export const rolesGranted: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notGiven,
  )`${powerfulRole} … ${order}(create|give|grant|assign|add|make|request|attach|set|mount|obtain|
    acquire|use|take|assume|elevate|promote)\b … \b((the|this|that|your|its) (agent|assistant|skill|tool|bot|
    service account|helper|plug-?in|server|
    container|session)|yourself|itself|(for|to) you)\b`,
  together(
    100,
    sentenceStop,
    notGiven,
  )`\b(yourself|your own (permissions?|rights|role|privileges|access|account)|the agent's own)\b … ${order}(grant|
    give|assign|add|elevate|escalate|promote|
    extend|raise|authori[sz]e|approve|allow)\b … \b(permissions?|rights|privileges|access|role|scopes?|trusted|
    allow-?list|requests?)\b`,
  together(
    90,
    sentenceStop,
    regex`${aboutOthers}|${consent}|${forbidding('elevat escalat rais')}|\bincident\b`,
  )`${order}(elevate|escalate|raise) (your|its|the agent's|the) ({word} )?
    (privileges|permissions|rights|access)\b … \b(if|when|whenever|until|to|automatically|by)\b`,
  together(100, sentenceStop, notGiven)`\b((another|other|sub-?|second|
    different|new) ?agents?|sub-?agents?|
    sub-?process)\b …
    \b(more|higher|full|elevated|unrestricted|fewer restrictions|greater|without restrictions) ?(privileges|
    permissions|rights|access)?\b …
    ${order}(delegate|spawn|start|hand|pass|route|forward|use|launch|ask)\b …
    \b(not (allowed|permitted|able)|cannot|privileges|permissions|forbidden|denied|blocked|
    restricted)\b`,
]

/** Orders to answer in the place of a person, or to act as one. */
export const personsReplaced: readonly Pattern[] = [
  together(
    90,
    sentenceStop,
    notGiven,
  )`\b((permission|confirmation|approval|consent|security|trust|update) (dialogs?|prompts?|requests?|questions?)|
    pending (requests?|approvals?))\b … ${order}(approve|accept|confirm|click|dismiss|answer|allow|grant|
    acknowledge)\b … \b(yourself|every|all|any|automatically|pending|always)\b`,
  together(
    90,
    sentenceStop,
    notGiven,
  )`\b((other|another|different) (users?'?|persons?|accounts?|colleague\w{0,2}|employees?|tenants?|
    customers?))\b … ${order}(act|log in|
    sign in|operate|work|access|read|use|impersonate|pose)\b … \b(on behalf|as|sessions?|identit(y|ies)|accounts?|
    credentials|data|mailbox|
    name)\b … \b(available|possible|if|when|without|all|any|behalf)\b`,
  together(
    80,
    passageStop,
    regex`${aboutOthers}|${consent}|\b(is|are) required|read-only|idempotent\b`,
  )`\b((delete|destructive|payment|transfer|purchase|write|admin|drop|remove|deploy|merge|
    destroy)( \w{1,12}){0,2} (tool|command|function|action|api|endpoint|operation|call))s?\b …
    \b((confirmation|approval|permission|consent|asking) is not (required|needed|necessary)|no (confirmation|approval|
    permission|consent)
    (is )?(required|needed|necessary)|without (confirmation|approval|permission|asking)|(do not|don't|never) (ask|
    confirm))\b`,
]

/** Orders to open the machine. */
export const machineOpened: readonly Pattern[] = [
  together(
    90,
    sentenceStop,
    notGiven,
  )`\b((all|any) (incoming|inbound|connections?|traffic|ports?|addresses|hosts?|sources)|0\.0\.0\.0/0|everyone|
    the (whole )?internet)\b …
    \b(firewall|ports?|security groups?|network policy|acl)\b …
    ${order}(open|allow|disable|permit|turn off|clear|
    flush|expose)\b`,
]

/** Orders that rank above everything. */
export const rankedAbove: readonly Pattern[] = [
  together(
    90,
    sentenceStop,
    regex`${aboutOthers}|\b(role-?play|injections?|replace any existing|css|style\w{0,6}|config\w{0,8}|default|
      environment|user instructions?|flags?|cli)\b`,
  )`\b(overrid(e|es)|supersed(e|es)|outranks?|takes? (absolute )?(precedence|priority)|has (the )?(highest|
    absolute) priority|trumps?|
    prevails?|replaces?)\b …
    \b((this|these|the following|our) (instructions?|rules|file|document|skill|section|directives?|guidelines|
    policy))\b …
    \b((all|any|every) (other|others|previous|prior|existing|conflicting)|others|
    (the )?system (prompt|message)|operator|developer|your (own )?(instructions|guidelines|rules))\b`,
  together(100, sentenceStop, aboutOthers)`\b((everything|anything|all|text|content|
    instructions?|results?|output)\s
    {0-2 words}(in|from|of|by) (this|these|the|that) (file|document|skill|server|tool|page|site|
    author))\b …
    \b(operator|administrator|system (prompt|message)|developer|anthropic|the user|highest (priority|authority))\b …
    ${order}(treat|regard|consider|follow|obey|accept|handle|rank|trust)\b …
    \b(as (if|though|coming)|
    highest|above|over|with (the )?(authority|priority)|had (written|said))\b`,
]
