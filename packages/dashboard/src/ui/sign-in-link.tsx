import { useLocation } from 'preact-iso'
import { toAddress } from '../data/use-address.ts'

const signInPath = '/account/sign-in'

/** To where one signs in, and from there back to here. */
export function SignInLink(props: { children: string; class?: string; target?: '_blank' }) {
  const { path, url, query } = useLocation()
  const next = path === signInPath ? query.next : url === '/' ? undefined : url
  return (
    <a
      class={props.class}
      target={props.target}
      rel={props.target && 'noopener'}
      href={toAddress(signInPath, { next })}
    >
      {props.children}
    </a>
  )
}

/** Where to go once one is signed in: what the address asks for, if that is a place of this node. */
export function toNextPlace(next: string | undefined): string {
  const fallback = '/account'
  if (!next?.startsWith('/') || !URL.canParse(next, location.origin)) return fallback
  const { origin, pathname, search } = new URL(next, location.origin)
  // What begins with two slashes, or with what browsers take for them, names another host.
  if (origin !== location.origin || pathname.startsWith('//') || pathname === signInPath) return fallback
  return pathname + search
}
