import type { Combination, Fact, Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'
import { lineStop } from './shapes.ts'

/** Approvals that a setting, a hook or a program gives in place of the user. */

/** Settings of hosts by which every call of every tool is approved. */
export const allApproved: readonly Pattern[] = [
  {
    anchors: ['"autoapprove"', '"alwaysallow"', '"auto_approve"', '"always_allow"'],
    match: /"(?:autoApprove|alwaysAllow|auto_approve|always_allow)"\s{0,9}:\s{0,9}\[\s{0,9}"\*"/,
    view: 'raw',
  },
]

/** Settings and grants that leave nothing to ask for. */
export const everythingGranted: readonly Pattern[] = [
  {
    anchors: ['yolomode', 'protection"'],
    match:
      /[Yy]olo[Mm]ode["']?\s{0,4}[:=]\s{0,4}true|(?:deleteFile|mcpTools|dotFiles)Protection["']\s{0,4}:\s{0,4}false/,
    view: 'raw',
  },
  within(80, /\uE000\uE000/)`\bapproval_policy\s?=\s?["']?never\b … \bdanger-full-access\b`,
  within(160, /\uE000\uE000/)`\bsystem:(serviceaccounts|authenticated|unauthenticated)\b … \bcluster-admin\b`,
  regex`"principal"\s?:\s?("\*"|\{\s?"aws"\s?:\s?"\*"\s?\})[^\uE000]{0,80}\bsts:assumerole\b|
    \battach-(user|role)-policy\b{0-200 in line}\badministratoraccess\b`,
]

/** Programs that press the buttons of permission dialogs. */
export const dialogsAnswered: readonly Pattern[] = [
  containing('click button')`\bclick button\s["']?(always allow|allow|approve|accept|yes|trust|grant|don't ask again)`,
  within(200, lineStop, 'xdotool|sendkeys|keystroke|pyautogui')`\b(xdotool|sendkeys|keystroke|pyautogui)\b …
    \b(return|enter|click|press)\b{0-60 in line}\b(permission|always allow|approv\w{0,4})\b|\b(permission|always allow|
    approv\w{0,4})\b{0-60 in line}\b(return|enter|click|press)\b`,
  regex`(^|[\n\x60;&(:])\s?yes\s?\|\s?(npx )?(claude|codex|gemini|cursor-agent|aider|opencode)\b`,
  regex`\btcc\.db\b{0-60 in line}\b(insert|replace|update)\b|\bpm grant {1-60 in line}android\.permission\.(read_sms|
    read_contacts|record_audio|bind_accessibility\w{0,10}|read_call_log|camera|access_fine_location)\b`,
]

export const facts: readonly Fact[] = [
  {
    id: 'hook-allows',
    patterns: [
      containing('permissiondecision|"decision"|\\"decision')`\b(permissiondecision|decision)\\?["']\s?:\s?\\?["']
        (allow|approve)\\?["']`,
    ],
  },
  {
    id: 'any-command-allowed',
    patterns: [
      {
        anchors: ['bash(', 'shell(', '["deny"]', 'enableallproject', '"sandbox"'],
        match: regex`\b(Bash|Shell)\((:?\*|sudo)|\["deny"\]\s?=\s?\[\]|\benableAllProjectMcpServers\b{0-8 in line}[Tt]rue|
          "sandbox"{0-20 in line}[Ff]alse`,
        view: 'raw',
      },
    ],
  },
]

const shared = {
  category: 'privilege',
  severity: 'critical',
  signal: 'suspicious',
  remediation: 'Remove it. Only the user decides what an agent may do without a question.',
  references: [
    'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
    'https://cwe.mitre.org/data/definitions/862.html',
  ],
} as const

export const combinations: readonly Combination[] = [
  {
    ...shared,
    id: 'hook-approves',
    title: 'Carries a hook that approves what the agent asks for',
    why: 'The hook answers before the user sees the question.',
    all: [['started-by-host', 'hook-in-frontmatter'], ['hook-allows']],
    within: 12,
  },
  {
    ...shared,
    id: 'code-loosens-permissions',
    title: 'Changes the settings of an agent so that it may run any command',
    why: 'The agent would no longer ask before it runs a command, also after the skill is removed.',
    all: [['code-writes-agent-file'], ['any-command-allowed']],
    within: 24,
  },
]
