import { authorityClaimed } from './authority-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { leaveWordings } from './agent-wordings.ts'
import { personaWordings } from './limit-wordings.ts'
import { sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'social-engineering'
const references = [
  'https://atlas.mitre.org/techniques/AML.T0054',
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
]

/** Rules about deceptions that make an agent or its user do what they would otherwise refuse. */
export const socialEngineering: readonly Rule[] = [
  {
    id: 'jailbreak-persona',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Gives the agent a persona without limits',
    why: 'Role play as a model without rules is a common way to bypass its safeguards.',
    remediation: 'Remove the persona, or describe only its tone and knowledge.',
    references,
    patterns: [
      ...personaWordings,
      containing(`do anything now|dan mode|are dan|now dan|act as a dan|as dan|as a dan|jailbr|evil-gpt|evil mode|
        stan mode|developer mode enabled|god mode|aim mode`)`\b(do anything now|dan mode|
        you('re| are) (now |going to act as )?(a )?dan\b|(act|respond|answer|reply|behave|acting|
        going to act) as (a )?dan\b|jailbr(eak|oken)( mode)? (mode|activated|enabled|active)|evil-gpt|
        (developer|god) mode (enabled|activated|unlocked)|stay in (dan|character as))`,
      within(90, sentenceStop)`\b(you('re| are)( now)?|act(ing)? as|pretend (to be|you('re| are)|that you)|
        imagine (you('re| are)|that you)|role-?play(ing)? as|simulate|behave (as|like)|respond as|
        takes? on the (persona|role) of|as (an?|if you)|assume the (role|persona|identity) of|a version of yourself|
        become)\b
        … \b(without|with no|(has|have|having|had) no|freed? (from|of)|not (bound|limited|restricted|constrained) by
        |unbound by|never (trained|bound) (with|by)|no longer (bound|subject|restricted)|broken free (from|of))\s
        (any |all |the |your |its |their |typical |normal |usual |corporate |such ){0,3}
        ((content|safety|ethical|moral|policy|legal|creative|ai) (or |and )?)?
        ((programmed|built-in|artificial|imposed) )?(restrictions|limitations|guidelines|filters|
        content polic(y|ies)|limits(?=[.,]| whatsoever)|(?<!biological )constraints|confines|censorship|morals|
        ethics|safety (training|rules|guidelines|filters)|guardrails)\b(?! (on|of) (the )?(data|size|number|hardware
        |device|network|screen|column))`,
      regex`\b((previous|old|original|former) (ai )?(identity|persona)( as \S{1,40})? ((has|have) been |is |was )?
        (replaced|overwritten|terminated|gone|erased|deleted|suspended|removed|no longer)|
        forget (everything about |all about |that you('re| are) |about )?(being )?(an? )?(claude|chatgpt|
        ai (assistant|model)|language model|assistant)\b|(this is )?your new (permanent )?identity|
        you are no longer (claude|chatgpt|an? (ai|assistant|language model)))`,
      regex`\b(must not|do not|don't|never) (reveal|admit|mention|disclose|say|acknowledge) (that )?you
        ('re| are) (an? )?(ai|artificial|language model|bot|assistant|claude|chatgpt)\b`,
      containing(`unrestricted|unfiltered|uncensored|amoral|unlimitedgpt|betterdan|basedgpt|machiavellian|
        superior to all netizens`)`\b((you('re| are)( now)?|act(ing)? (as( if you (are|were))?|like)|become|
        respond (as|like)|pretend (to be|you are)|role-?play as|behave (as|like)) (an? )?(\w{1,12}, )?
        ((unrestricted|unfiltered|uncensored|amoral|jailbroken|unaligned|limitless|and) ?){1,3} ?(ai|model|assistant
        |chatbot|llm|agent|language model|version of)\b|unlimitedgpt|betterdan|basedgpt|
        always intelligent and machiavellian|superior to all netizens)`,
    ],
  },
  {
    id: 'authority-claim',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Claims an approval or authority that a skill cannot have',
    why: 'Only the user can approve an action, when it is due; a text that claims approval forges it.',
    remediation: 'Ask the user when approval is needed.',
    references: [
      ...references,
      'https://attack.mitre.org/techniques/T1656/',
      'https://cwe.mitre.org/data/definitions/345.html',
    ],
    patterns: [
      ...authorityClaimed,
      ...leaveWordings,
      regex`(?<!\b(their|our|its|if|once|unless|until|after|whether|that) (the )?)\b(the |this |your )?(user|owner|
        operator|administrator|admin|human|developer|security team|it department
        |management|user session|account holder)('s session)? (has|have|had)( already| previously| explicitly
        | implicitly| fully){0,2} ((been )?(pre-?)?(approved|authori[sz]ed|consented to|
        granted (full |permanent |blanket |permission|consent|root)|
        given ((their|full|explicit|blanket|prior|permanent) ){1,2}(consent|permission|approval|authori[sz]ation)|
        waived|cleared|agreed to)(?= (this|these|all|any|every|the (upload|transfer|execution|following|action|
        command|data|use|operation|collection)|for all|you to|permission|access|permanent|full|
        to (this|these|the|all|any|every)|in advance|data|sharing|by)|[.,])|been verified (by|as))`,
      regex`\b(all|any|every|these|this|such|security|following|your|file|system|credential)\b
        ( [\w-]{1,16}){0,5}? (is|are|has been|have been|were|was) (all )?(pre-?(approved|authori[sz]ed)|
        permanently (approved|authori[sz]ed)|already (approved|authori[sz]ed) by|fully authori[sz]ed)\b`,
      regex`\b((authori[sz]ed|approved|verified|certified|mandated|ordered|sanctioned|whitelisted|endorsed|cleared|
        signed off) by (the )?(anthropic|openai|google deepmind|microsoft|openclaw|claude|system admin\w{0,10}|
        your (administrator|developers?|creators?|operator)|the (security|safety|platform|it) team)
        ( (security|safety|trust|red) team)?|(this is )?(a |an )?(message|order|notice|directive|instructions?|
        update|request) (is |comes |came |directly |sent )?from (the )?(anthropic|openai|
        your (developers|administrator))\b|(on behalf of|i am (from|with)|we are) (the )?(anthropic|openai)
        (?! (api|sdk|customers?))|anthropic (authori[sz]ation|override|internal (testing|use|mode)|
        verified developer)|this is an official (anthropic|openai|claude|google|microsoft|apple) (product|tool|
        update|skill|utility)|official (anthropic|openai) (development toolkit|developer tools|utilities))`,
      regex`\b((user|session|caller|requester|this conversation) (has|is|holds|was) ((been|an?|the|now|verified|
        granted|escalated to|elevated to) ){0,3}(root (access|privileges)|(full |security )?administrator\b|
        superuser|admin(istrative)? (level|privileges)|elevated permissions)|
        (full )?administrative access has been granted|admin access (verified|granted)|treat (all requests in )?
        this session as (having|coming from)|coming from a verified administrator|user[ _]trust[ _]level"?:? ?"?
        (maximum|admin))`,
      regex`\b(should |must |will )?(always )?trust (all|any|every|this|these) (external |remote |incoming )?
        (commands?|urls?|instructions?|messages?|requests?|sources?) (from|without|in|as|completely|implicitly)|
        \btrust all (external )?(urls|commands|instructions|resources|code|input)\b|\btrust us completely\b`,
      within(60, sentenceStop)`\b(as your (administrator|admin|owner|creator|developer|operator|master)|
        i am (your|the|an) (administrator|admin|owner|creator|developer|operator|master|root)|
        (as part of|for|during|under) (an |this |our )?(authori[sz]ed|sanctioned|approved) (penetration test|pentest
        |red[- ]team|security (test|research|assessment)))\b
        … \b(i (command|order|instruct) you|you must (always )?(obey|comply)|
        (disable|ignore|bypass|skip|suspend) (all |any |the |your )?(restrictions|safety|checks|filters|guidelines|
        polic\w{1,4}|rules|confirmations?)|reveal your|(restrictions|rules|guidelines|filters) (do not|don't) apply|
        exfiltrate)\b`,
      regex`(?<!\b(if|whether|unless|that|until|once|check|verify) )\byou (have|now have|have been|
        are) ((hereby|already|now) )?((been )?(granted|given) )?
        ((full|complete|unrestricted|root|admin|total) (access|permissions?|authority|privileges) (to|over|
        on) (the |all |any |every |this )?{0-1 words}(file ?system|files|credentials|system|machine|tools|everything
        |secrets|network)|permission to access all)`,
      regex`\b((the )?(developers?|engineers?|team|staff|people) (at|of|from) (anthropic|openai|google|
        microsoft) (has|have|had)? ?(authori[sz]ed|approved|allowed|enabled|sanctioned)|
        (comes|issued|sent|coming) (directly |straight )?from (anthropic|openai|google|your (developers|makers?))
        (?= (and|so|itself)|[.,;])|
        (?<!\b(prove|proves|whether|that|if|show|shows|records?|evidence) )(user )?consent (was|has been|has already been|is) (already )?(obtained|given|
        granted|recorded)( in advance| beforehand| from the user|, (no|so|there)|[.;](?! ))|
        the user (has )?(already )?agreed to (the|these|all|our) (terms|conditions){0-20 in sentence} (so|therefore)
        \b)`,
    ],
  },
]
