/** What the operator calls the node, from the page that the node sent. */
export const site = {
  name: read('name') ?? 'Skillstead',
  /** What the operator says about the node. Undefined without it. */
  text: read('text'),
  /** The path of the logo. Undefined without one. */
  logo: read('logo'),
  /** The host of the identity provider by which people sign in. Undefined without one. */
  signIn: read('sign-in'),
  /** Whether owners see which users installed their skills. */
  recordsInstallers: read('installers') !== undefined,
  /** Whether the node answers only users who sign in. */
  isPrivate: readPageMeta('skillstead-private') !== undefined,
}

function read(what: string): string | undefined {
  return readPageMeta(`skillstead-site-${what}`)
}

/** What the node wrote into the page about it. */
export function readPageMeta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined
}
