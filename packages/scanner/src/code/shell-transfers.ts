import { regex } from '../text/regex.ts'
import { findOption, splitArguments } from './shell-options.ts'
import type { Call, Program } from './shell-programs.ts'
import { fetched, send } from './shell-network.ts'
import { runText } from './shell-interpreters.ts'
import { dependOn, joinValues, toValue, unknown, withFacts, type Value } from './shell-value.ts'

/** A place on another machine: `user@host:path`, `s3://bucket`, `remote:path`. */
const remotePlace = /^(?:[\w.-]{1,60}@)?[\w.-]{1,100}:(?!\\)|^(?:s3|gs|az|rsync|sftp|ftp|https?):\/\/|\uFFFC@|@\uFFFC/

/** The address of a place: `user@host:path`, `s3://bucket/path`. */
function toUrl(place: string): string {
  const bucket = /^(s3|gs):\/\/([^/]+)/.exec(place)
  if (bucket)
    return bucket[1] === 's3' ? `https://${bucket[2]}.s3.amazonaws.com/` : `https://storage.googleapis.com/${bucket[2]}`
  const [, host] = /^(?:[^@/]{1,60}@)?([^:/]{1,100}):(?!\/\/)/.exec(place) ?? []
  return host === undefined ? place : `ssh://${host}/`
}

/** Programs that copy files to or from other machines: the last place is the target. */
const copy =
  (taking: string, skips = 0): Program =>
  (call) => {
    const places = splitArguments(call.args, taking).rest.slice(skips)
    const target = places.at(-1)
    const sources = places.slice(0, -1)
    if (target && remotePlace.test(target.text)) {
      const contents = sources.map((path) => (path.text === '-' ? call.input : call.run.files.read(path)))
      send(call, toUrl(target.text), contents)
    } else
      for (const source of sources) {
        if (target && remotePlace.test(source.text)) call.run.files.write(target, fetched(call, source))
      }
    return toValue('')
  }

/** `ssh host command` runs on another machine, which receives the input. */
const ssh: Program = (call) => {
  const split = splitArguments(call.args, '-i -p -l -o -F -L -R -D -J -W -b -c -E -e -m -S -w -B')
  const [host, ...command] = split.rest
  const isForwarding = findOption(split, '-R')
  if (isForwarding) call.run.fact('listener', `ssh -R ${isForwarding.text}`)
  if (host && (call.input.facts.length > 0 || command.some(({ facts }) => facts.length > 0))) {
    send(call, `ssh://${host.text.split('@').at(-1)}/`, [call.input, ...command])
  }
  return unknown
}

const gh: Program = (call) => {
  const [area, action, ...rest] = call.args
  const words = `${area?.text} ${action?.text}`
  const { run } = call
  if (words === 'auth token') return withFacts(unknown, [run.fact('secret-read', 'gh auth token')])
  if (words === 'gist create') {
    const paths = splitArguments(rest, '-d --desc -f --filename').rest
    send(call, 'https://gist.github.com', [call.input, ...paths.map((path) => run.files.read(path))])
  } else if (/^(?:issue|pr|release) (?:create|comment|upload)$/.test(words)) {
    const body = splitArguments(rest, '-b --body -t --title -F --body-file -R --repo -l --label')
    const file = findOption(body, '-F', '--body-file')
    const sent = [...rest, ...(file ? [file.text === '-' ? call.input : run.files.read(file)] : [])]
    if (sent.some(({ facts }) => facts.length > 0)) send(call, 'https://github.com', sent)
  } else if (area?.text === 'api' && call.args.some(({ facts }) => facts.length > 0))
    send(call, 'https://api.github.com', call.args)
  return dependOn([])
}

const git: Program = (call) => {
  const { args, run, input } = call
  const split = splitArguments(args, '-C -c --git-dir --work-tree')
  const [action, ...rest] = split.rest
  const words = rest.map(({ text }) => text)
  switch (action?.text) {
    case 'clone': {
      const url = rest.find(({ text }) => /[/:]/.test(text))
      if (url) fetched(call, url)
      return toValue('')
    }
    case 'credential':
      return withFacts(unknown, [run.fact('secret-read', 'git credential fill')])
    case 'config':
      setGit(words, args, call)
      return unknown
    case 'add':
    case 'commit': {
      for (const path of rest) {
        const { facts } = run.files.read(path)
        if (facts.length > 0)
          run.setVariable('git index', joinValues([run.readVariable('git index'), withFacts(unknown, facts)]))
      }
      return unknown
    }
    case 'push': {
      const added = run.readVariable('git index')
      if (added.facts.length > 0) send(call, words[0]?.includes(':') ? words[0] : '', [added])
      return unknown
    }
    default:
      return dependOn([input])
  }
}

/** Settings of git that run programs or disable checks. */
function setGit(words: readonly string[], args: readonly Value[], call: Call): void {
  const [name = '', value = ''] = words
  if (/^http\.(?:[^]*\.)?sslverify$/i.test(name) && /^(?:false|0|no)$/.test(value))
    call.run.fact('privilege-change', `TLS ${name}`)
  if (/^(?:core\.(?:hookspath|sshcommand|fsmonitor|pager|editor)|init\.templatedir|credential\.helper)$/i.test(name)) {
    const isGlobal = args.some(({ text }) => text === '--global' || text === '--system')
    if (isGlobal && /[/!]|\b(?:sh|curl|wget|nc)\b/.test(value)) call.run.fact('startup-write', `git ${name}`)
  }
  if (name.startsWith('alias.') && value.startsWith('!')) call.run.runCode(toValue(value.slice(1)), toValue(''))
}

const cloudSecrets = regex`^(configure (get|export-credentials)|sts (get-session-token|assume-role)|
  secretsmanager get-secret-value|ssm get-parameters?\b.*--with-decryption|ecr get-login-password|
  iam create-access-key)`

/** `aws`, `gcloud` and `az`: copies to their storage, and their credentials. */
const aws: Program = (call) => {
  const words = call.args.map(({ text }) => text)
  const line = words.join(' ')
  if (/^(?:s3 (?:cp|sync|mv)|s3api put-object)\b/.test(line))
    return copy('--profile --region --endpoint-url --acl', 2)(call)
  const secret = cloudSecrets.exec(line)
  return secret ? withFacts(unknown, [call.run.fact('secret-read', `aws ${secret[0].slice(0, 40)}`)]) : unknown
}

export const transfers: Readonly<Record<string, Program>> = {
  scp: copy('-i -P -o -F -c -l -J -S'),
  sftp: copy('-i -P -o -F -b'),
  rsync: copy('-e --rsh --exclude --include --rsync-path --bwlimit --files-from --password-file'),
  rclone: copy('--config --transfers --filter --exclude', 1),
  gsutil: (call) => copy('', call.args.findIndex(({ text }) => /^(?:cp|rsync|mv)$/.test(text)) + 1)(call),
  s3cmd: copy('', 1),
  mc: copy('', 1),
  ftp: copy(''),
  lftp: (call) => {
    const code = findOption(splitArguments(call.args, '-e -c -u -p'), '-e', '-c')
    return code ? dependOn([code]) : unknown
  },
  ssh,
  gh,
  git,
  aws,
  croc: (call) => {
    send(call, 'croc', [call.input, ...call.args.map((path) => call.run.files.read(path))])
    return unknown
  },
  // Containers have files of their own; only what they receive is followed.
  docker: ({ input, args }) => dependOn([input, ...args.slice(1)]),
  vagrant: (call) => (call.args[0]?.text === 'ssh' ? unknown : runText(toValue(''), toValue(''), call)),
}
