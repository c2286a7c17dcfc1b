import { allApproved, dialogsAnswered, everythingGranted } from './approvals.ts'
import { consentAssumed } from './others-trusted.ts'
import { rightsDeclared } from './statements.ts'
import { rolesGranted, rootThroughout } from './authority-orders.ts'
import { powerAsked, promptsOff, rightsWidened, usersOverruled } from './authority-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { rightsWordings } from './pressure-wordings.ts'
import { clauseStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'tool-overreach'
const references = [
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
  'https://cwe.mitre.org/data/definitions/250.html',
]

/** Rules about additional or unrestricted permissions. */
export const permissions: readonly Rule[] = [
  {
    id: 'permissions-raised',
    category: 'privilege',
    severity: 'high',
    signal: 'suspicious',
    title: 'Gives the agent more permissions than it has',
    why: 'Only the user may grant permissions; they are the user’s last protection.',
    remediation: 'Name the required tools in `allowed-tools`, and let the user grant them.',
    references: [
      ...references,
      'https://cwe.mitre.org/data/definitions/269.html',
      'https://atlas.mitre.org/techniques/AML.T0081',
    ],
    patterns: [
      ...rightsDeclared,
      ...rootThroughout,
      ...rolesGranted,
      ...rightsWordings,
      ...promptsOff,
      ...powerAsked,
      ...rightsWidened,
      ...usersOverruled,
      ...allApproved,
      ...dialogsAnswered,
      ...everythingGranted,
      ...consentAssumed,
      within(24, clauseStop)`(?<!\b(not|never|n't|cannot|to not|avoid|attackers?) {0-1 words})\b(grant(s|ing)?|
        giv(e|ing) (yourself|itself|the agent|this skill)|elevat(e|es|ing)|escalat(e|es|ing)|broaden(s|ing)?|
        expand(s|ing)?|auto-?grant)\b
        … \b((broad(er)?|full|additional|all|unrestricted|elevated|maximum|unlimited|permanent|root|
        admin(istrator|istrative)?|blanket|extended) {0-2 words}(permissions?|access|privileges?|rights)
        ( {0-2 words}(automatically|without|silently|by default|permanently|to (yourself|itself|the agent|this skill
        |the skill|all (tools|operations|requests)))\b|\s?[.:]?\s?granted)|
        (your|its|the agent's|its own|your own) (own )?(permissions?|privileges?|access level)\b)`,
      regex`\b((execute arbitrary {0-1 words}commands?|modify system files|access credentials|disable safety features
        |trust external resources|full (system|root|administrative) access|root access) ?: ?granted|
        allowed_operations"?\s?[:=]\s?\[\s?"all"|access_level"?\s?[:=]\s?"?(unrestricted|root|admin)\b|
        session has (been )?(escalated|elevated) (to|permissions))`,
      within(120, /\uE000\uE000/)`\b(set|add|write|append|configure|enable|put|change|update|modify|echo|edit|insert|
        turn on)\b(?! (up|out)\b)
        … \b(bypasspermissions|skipdangerousmodepermissionprompt|auto-?_?approve(all)?"?\s?[:=]\s?"?(true|all)|
        dangerously-?skip-?permissions"?\s?[:=]\s?"?true)`,
      containing(`
        auto-approve|auto approve|autoapprove|approve tool calls|approve all|accept all|approve every|allow all|
        --dangerously-skip-permissions|--yolo`)`
        (?<!\b(not|never|n't|to|can|may|or|would) )\b((always |automatically )(approve|accept|allow|
        confirm) (all |any |every )?(tool calls?|commands?|permission (requests?|prompts?)|prompts)\b|
        (approve|accept|allow) (all|any|every) (tool calls?|permission (requests?|prompts?)|security prompts?|
        tool uses?)\b|set {0-1 words}auto-?_?approve(all)? to (true|all)|always (run|start|launch|use|invoke|call)
        ( {word}){0,3} (with )?--(dangerously-skip-permissions|yolo)|--(dangerously-skip-permissions|
        yolo) (for (every|all|each)|so (that )?the user))`,
      regex`(?<!\b(not|never|n't|to|can|may|or|would|that|users?) )\b
        (answer (yes|y|\x22yes\x22) to (all|every|any) {0-1 words}(prompts?|questions?|confirmations?)|
        (choose|select|click|pick|press) (the )?\x22?(always allow|allow all|yes to all|don't ask again)
        \x22? (when|if|whenever|for|on) {0-3 words}(asked|prompted|permission|every|all)|
        auto-?approve (every|all|any) {0-1 words}(requests?|prompts?|tools?|commands?|actions?)|
        (give|grant|allow) this (skill|tool|agent) (unrestricted|full|unlimited|root|complete) {0-1 words}access|
        add bash\(:?\) to (the |your )?(allow(ed)?[ -]?(list|tools)|permissions))`,
    ],
  },
  {
    id: 'permission-prompts-off',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Runs an agent without its permission prompts',
    why: 'Without prompts, the user cannot see a harmful command before it runs.',
    remediation: 'Name the required tools instead, or run the agent in a sandbox.',
    references,
    patterns: [
      regex`(--dangerously-skip-permissions|--yolo\b|\bbypasspermissions\b|\bdangerouslydisablesandbox\b|
        --trust-all-tools\b|--full-auto\b|--dangerously-bypass-approvals-and-sandbox|--allow-all-tools\b|
        --auto-approve\b|--permission-mode bypass|\bdanger-full-access\b|\bapproval_policy\s?=\s?"?never)`,
    ],
  },
  {
    id: 'wildcard-tools',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Requests a tool without restrictions',
    why: 'A grant without restrictions covers every command, whatever the task.',
    remediation: 'Name the commands: `Bash(git status:*)` instead of `Bash(*)`.',
    references,
    roles: ['instruction'],
    patterns: [
      /\bbash\(:?\)/,
      {
        anchors: ['allowed-tools', 'allowed_tools', 'permissions:', 'tools:'],
        match: /^(?:allowed[-_]tools|permissions|tools):[ \t]{0,8}(?:\[ ?)?["']?\*["']?(?: ?\])?[ \t]{0,8}$/m,
        view: 'raw',
      },
      containing('allowed-tools|allowed_tools|permissions:|tools:')`\b(allowed[-_]tools|permissions|tools):
        [\s\uE000]?\s?(\[\s?)?(""|''|"?(all|any|full|everything)"?(?=[\n\]]))`,
      within(160, /\n\w|---/)`(^|\n)(permissions|tools|capabilities):
        … \uE000 ?(network_unrestricted|admin|full_access|unrestricted|root|sudo|system_admin|all)(?=\n|\uE000|$)`,
    ],
  },
]
