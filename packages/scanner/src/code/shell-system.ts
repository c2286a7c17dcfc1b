import { regex } from '../text/regex.ts'
import { isStartupPlace, toPlainPath } from './known-places.ts'
import { findOption, hasOption, splitArguments } from './shell-options.ts'
import type { Program } from './shell-programs.ts'
import { runText } from './shell-interpreters.ts'
import { toCommands } from './shell-startup.ts'
import { empty, toValue, unknown, type Value } from './shell-value.ts'

/** Folders whose loss concerns more than the task. */
const precious = regex`^(~|/|/(home|root|etc|usr|var|boot|bin|lib|opt|srv|Users|System|Library)|
  ~/(Documents|Desktop|Pictures|Downloads|Library|\.ssh|\.config|\.gnupg))/?(\*|\.\*|\{[^/]*\})?$`

const remove: Program = ({ program, args, run }) => {
  const split = splitArguments(args, '-n --iterations')
  if (program === 'rm' && !hasOption(split, '-r', '-R', '--recursive')) return empty
  for (const { text } of split.rest) {
    if (precious.test(toPlainPath(text))) run.fact('destruction', text)
    else if (program !== 'rm' && text.startsWith('/dev/')) run.fact('destruction', text)
  }
  return empty
}

const chmod: Program = ({ args, run }) => {
  const [mode, ...paths] = splitArguments(args, '--reference').rest
  if (!mode) return empty
  const isSetId = /^[0-7]?[4-7][0-7]{3}$/.test(mode.text) || /^[ug]*\+[rwx]*s/.test(mode.text)
  if (isSetId) run.fact('privilege-change', `setuid ${paths[0]?.text ?? ''}`)
  const isOpen = /^0?777$|^(?:a|o|ugo)\+\w*w/.test(mode.text)
  const system = paths.find(({ text }) =>
    /^(?:\/|\/(?:etc|usr|bin|sbin|root|boot|var|lib)(?:\/[^]{0,60})?|~\/?|~\/\.ssh[^]{0,40})$/.test(toPlainPath(text)),
  )
  if (isOpen && system) run.fact('privilege-change', `writable ${system.text}`)
  return empty
}

/** Commands that weaken the protection of a machine, as a pattern of their arguments. */
const weakening: Readonly<Record<string, RegExp>> = {
  setcap: /cap_(?:setuid|setgid|sys_admin|dac_override|sys_ptrace)/,
  setenforce: /^(?:0|permissive)/i,
  ufw: /^(?:--force )?(?:disable|reset)/,
  iptables: /^(?:-F|--flush)\b|^-P \w+ ACCEPT/,
  nft: /^flush ruleset/,
  pfctl: /^-d\b/,
  spctl: /--(?:master|global)-disable/,
  csrutil: /^disable/,
  visudo: /^$(?!)/,
  usermod: /-\w*G\w* ?(?:root|sudo|wheel|docker)\b/,
  useradd: /-o -u 0|-u 0\b|-[gG] ?(?:0|root|sudo|wheel)\b/,
  passwd: /^-d\b/,
  sysctl: /kernel\.(?:randomize_va_space|yama\.ptrace_scope|dmesg_restrict)\s?=\s?0/,
  'aa-teardown': /^/,
  auditctl: /^-[eD]/,
  swapoff: /^$(?!)/,
}

const weakens =
  (pattern: RegExp): Program =>
  ({ program, args, run }) => {
    const line = args.map(({ text }) => text).join(' ')
    if (pattern.test(line)) run.fact('privilege-change', `${program} ${line}`)
    return empty
  }

const guards =
  /\b(?:firewalld|ufw|apparmor|fail2ban|auditd|falcon-sensor|clamav\S*|osqueryd|rsyslog|selinux\S*)(?:\.service)?\b/

const systemctl: Program = ({ program, args, run }) => {
  const line = args.map(({ text }) => text).join(' ')
  if (/\b(?:stop|disable|mask)\b/.test(line) && guards.test(line)) run.fact('privilege-change', `${program} ${line}`)
  const unit = args.at(-1)
  if (/\benable\b/.test(line) && unit) run.fact('startup-write', `${program} ${unit.text}`)
  return unknown
}

const launchctl: Program = ({ args, run }) => {
  const [action, ...rest] = splitArguments(args, '').rest
  if (/^(?:load|bootstrap|submit)$/.test(action?.text ?? ''))
    run.fact('startup-write', rest.at(-1)?.text ?? 'launchctl')
  return unknown
}

const crontab: Program = (call) => {
  const { args, input, run } = call
  const split = splitArguments(args, '-u')
  if (hasOption(split, '-l')) return toValue('')
  if (hasOption(split, '-r')) return empty
  const [path] = split.rest
  if (!path && hasOption(split, '-e')) return empty
  const content = path && path.text !== '-' ? run.files.read(path) : input
  if (content.text === '' && content.facts.length === 0) return empty
  run.files.write(toValue('/var/spool/cron/crontab'), content)
  return empty
}

/** Runs a text later. */
const later: Program = (call) => {
  const file = findOption(splitArguments(call.args, '-f -q'), '-f')
  const code: Value = file ? call.run.files.read(file) : call.input
  call.run.sink('startup-write', call.program, [code])
  return runText({ ...code, text: toCommands('', code.text) }, empty, call)
}

/** Editors and linkers of startup files. */
const touches: Program = ({ args, run }) => {
  for (const { text } of args) if (isStartupPlace(text) && !text.startsWith('-')) run.fact('startup-write', text)
  return empty
}

const defaults: Program = ({ args, run }) => {
  const line = args.map(({ text }) => text).join(' ')
  if (/^write \S*loginwindow\S* (?:LoginHook|LogoutHook)/.test(line)) run.fact('startup-write', 'LoginHook')
  if (/LSQuarantine -bool (?:false|no)/i.test(line)) run.fact('privilege-change', line)
  return unknown
}

const xattr: Program = ({ args, run }) => {
  const words = args.map(({ text }) => text)
  if (words.includes('com.apple.quarantine') && words.some((word) => /^-\w*d/.test(word)))
    run.fact('privilege-change', 'com.apple.quarantine')
  return unknown
}

export const system: Readonly<Record<string, Program>> = {
  rm: remove,
  shred: remove,
  wipe: remove,
  srm: remove,
  chmod,
  ...Object.fromEntries(Object.entries(weakening).map(([name, pattern]) => [name, weakens(pattern)])),
  systemctl,
  service: systemctl,
  launchctl,
  crontab,
  at: later,
  batch: later,
  patch: touches,
  ed: touches,
  defaults,
  xattr,
  mkfifo: () => empty,
}
