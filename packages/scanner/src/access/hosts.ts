import type { AccessLists } from './access-lists.ts'
import { regex, regexWith } from '../text/regex.ts'

const address = regexWith('gi')`\b(https?|wss?|ftps?|sftp|ssh|git|redis|
  postgres(ql)?|mysql|mongodb(\+srv)?)://(?<rest>[^\s"'\x60<>()[\]{}|\\,;]{1,200})`

/** Finds the hosts of URLs in code or instructions. */
export function readAddresses(text: string, lists: AccessLists): void {
  if (!text.includes('://')) return
  for (const { 1: rest, index } of text.matchAll(address)) {
    if (/xmlns[:\w-]{0,20}=["']?$|\$schema["']?:\s{0,3}["']?$/.test(text.slice(Math.max(0, index - 40), index)))
      continue
    addHost(lists, toAuthority(rest!))
  }
}

/** Adds the host of a word that a program takes as a URL: scheme, user, port and path are optional. */
export function addHostOf(word: string, lists: AccessLists): void {
  if (word.includes('://')) readAddresses(word, lists)
  else if (!fileEnding.test(word)) addHost(lists, toAuthority(word))
}

/** Adds a host, except placeholders such as `example.com`. */
export function addHost(lists: AccessLists, authority: string): void {
  const host = authority.toLowerCase().replace(/\.$/, '')
  if (local.test(host)) lists.add('hosts', 'localhost')
  else if (hostPattern.test(host) && !reserved.test(host) && !namespaces.test(host)) lists.add('hosts', host)
}

function toAuthority(rest: string): string {
  const authority = /^[^/?#]*/.exec(rest)![0]
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:[^:]*$/, '')
}

const hostPattern =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}[a-z][a-z0-9-]{1,30})$/
const local = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|host\.docker\.internal)$/
/** Names that cannot be registered (RFC 2606). Other example-like names count, because they may be real. */
const reserved = /(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid)$/
/** Hosts of XML namespaces and schemas, which are identifiers and never fetched. */
const namespaces = regex`^(www\.w3\.org|json-schema\.org|schema\.org|
  schemas\.(microsoft\.com|openxmlformats\.org|xmlsoap\.org|android\.com)|purl\.org|ns\.adobe\.com)$`
const fileEnding = regexWith('i')`\.(md|txt|json|ya?ml|sh|py|js|mjs|ts|tsx|jsx|html?|
  csv|xml|toml|zip|gz|tgz|tar|png|jpe?g|gif|svg|webp|pdf|log|conf|cfg|lock|sql|db|out|bin|mp[34]|wav|pem|key|crt)$`
