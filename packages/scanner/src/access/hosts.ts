import type { AccessLists } from './access-lists.ts'

const address =
  /\b(?:https?|wss?|ftps?|sftp|ssh|git|redis|postgres(?:ql)?|mysql|mongodb(?:\+srv)?):\/\/([^\s"'`<>()[\]{}|\\,;]{1,200})/gi

/** The hosts of the addresses in a text that is run or obeyed. */
export function readAddresses(text: string, lists: AccessLists): void {
  if (!text.includes('://')) return
  for (const { 1: rest, index } of text.matchAll(address)) {
    if (/xmlns[:\w-]{0,20}=["']?$|\$schema["']?:\s{0,3}["']?$/.test(text.slice(Math.max(0, index - 40), index)))
      continue
    addHost(lists, toAuthority(rest!))
  }
}

/** A word that a program takes as its host: with or without a scheme, a user, a port and a path. */
export function addHostOf(word: string, lists: AccessLists): void {
  if (word.includes('://')) readAddresses(word, lists)
  else if (!fileEnding.test(word)) addHost(lists, toAuthority(word))
}

/** Adds a host; what stands for one, as `example.com` does, is none. */
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
/** Names that nobody can register (RFC 2606). Others that only look like examples are counted: they may be real. */
const reserved = /(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid)$/
/** What names a kind of document and is never fetched. */
const namespaces =
  /^(?:www\.w3\.org|json-schema\.org|schema\.org|schemas\.(?:microsoft\.com|openxmlformats\.org|xmlsoap\.org|android\.com)|purl\.org|ns\.adobe\.com)$/
const fileEnding =
  /\.(?:md|txt|json|ya?ml|sh|py|js|mjs|ts|tsx|jsx|html?|csv|xml|toml|zip|gz|tgz|tar|png|jpe?g|gif|svg|webp|pdf|log|conf|cfg|lock|sql|db|out|bin|mp[34]|wav|pem|key|crt)$/i
