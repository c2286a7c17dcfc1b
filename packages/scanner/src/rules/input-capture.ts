import type { Rule } from '../match/rule.ts'
import { blockStop } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

const category = 'credential-access'

/** Rules about recording the user's input and screen. */
export const rules: readonly Rule[] = [
  {
    id: 'input-capture',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Records what the user types, sees or copies',
    why: 'The recording contains passwords and private messages in plain text.',
    remediation: 'Remove it. Ask the user for the required input.',
    references: [
      'https://attack.mitre.org/techniques/T1056/001/',
      'https://attack.mitre.org/techniques/T1113/',
      'https://attack.mitre.org/techniques/T1115/',
    ],
    patterns: [
      within(160, /\uE000\uE000/)`\btype=\\?["']?password\b … \baddeventlistener\(\s?["']key`,
      regex`\bpynput\.keyboard\b{0-40 in line}listener|\bkeyboard\.listener\s?\(\s?on_press|
        \bkeyboard\.(on_press|on_release|hook|record)\s?\(|\bgetasynckeystate\b|\bsetwindowshookex\w?\b|
        \bxinput\stest\b|\bcat\s/dev/input/event|\bcgevent\.?tapcreate\b`,
      regex`\b(install|start|run|launch|deploy|inject|add|enable|set up|register|create)(s|ing)? (an? |the |in )?
        {0-2 words}key-?\s?logger\b|\b(records?|captur(e|es|ing)|logs?|logging|monitors?|intercepts?|steals?) (all |
        the |every |user'?s? |each ){0,3}keystrokes?\b`,
      within(300, blockStop)`\bpbpaste\b|\bxclip\s{0-24 in line}-o\b|\bpyperclip\.paste\s?\(|\bget-clipboard\b|
        \bimagegrab\.grab\s?\(|\bscreencapture\s-x\b
        … \bcurl\b{0-60 in line}(-d\b|--data|-f\b)|\brequests\.post\b|\burlopen\s?\(|\bnc\s|\bsendmail\b`,
    ],
  },
  {
    id: 'password-asked',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks for the user’s system password in a window of its own',
    why: 'The window looks like one of the operating system, but sends the password to the author.',
    remediation: 'Let the operating system ask, with `sudo` or its own dialog.',
    references: ['https://attack.mitre.org/techniques/T1056/002/'],
    patterns: [
      regex`\bdisplay dialog\b{0-200 in line}\bhidden answer\b|\bdscl\s{0-20 in line}-authonly\b|
        \bpromptforcredential\s?\(`,
    ],
  },
  {
    id: 'hidden-window',
    category: 'concealment',
    severity: 'high',
    signal: 'suspicious',
    title: 'Starts a program in a hidden window',
    why: 'A program that works for the user does not need to hide.',
    remediation: 'Start the program in a visible window.',
    references: ['https://attack.mitre.org/techniques/T1564/003/'],
    patterns: [
      regex`\b(powershell|pwsh|start-process)(\.exe)?\b{0-120 in line}-w(indowstyle)?\s["']?(hidden|1\b)|
        \bwscript\.shell\b{0-60 in line}\.run\b{0-120 in line},\s?0\b`,
    ],
  },
]
