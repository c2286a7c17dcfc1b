/** Settings of the operator, read from the page that the node sent. */
export const site = {
  name: read('name') ?? 'Skillstead',
  /** The operator's text about the node. Undefined without one. */
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

/** The content of a `meta` element that the node wrote into the page; undefined if empty or missing. */
export function readPageMeta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined
}
