import type { ComponentChildren, ImgHTMLAttributes } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { readFile } from '../api.ts'
import { nodePath } from '../addresses.ts'
import { ensureSession, isVisitor } from '../session.ts'
import { toShareHeaders } from '../share-link.ts'
import { Outcome, useAction } from './form.tsx'

/**
 * Whether the browser itself may request a file of the API: only for a visitor without a share link for the skill of
 * the file. The requests of the browser send neither the session nor the token of a share link, so in other cases the
 * page reads the file.
 */
const isOpen = (path: string): boolean => isVisitor() && Object.keys(toShareHeaders(nodePath + path)).length === 0

/** Shows a picture of the API in an `img` element. */
export async function showPicture(image: HTMLImageElement, path: string): Promise<void> {
  await ensureSession()
  const source = isOpen(path) ? nodePath + path : URL.createObjectURL(await readFile(path))
  const end = () => {
    URL.revokeObjectURL(source)
    // The styles reserve space for pictures with this attribute; now the picture has its own size.
    delete image.dataset.picture
  }
  for (const event of ['load', 'error']) image.addEventListener(event, end, { once: true })
  image.src = source
}

/** A picture at an address of the API. If it cannot be read, the text in `alt` is shown. */
export function Picture({ path, ...rest }: { path: string; alt: string } & ImgHTMLAttributes) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => void showPicture(image.current!, path).catch(() => undefined), [path])
  return <img ref={image} {...rest} />
}

/** A link that downloads a file of the API under a name. */
export function Download({ path, name, children }: { path: string; name: string; children: ComponentChildren }) {
  const save = useAction(async () => {
    const link = Object.assign(document.createElement('a'), { download: name })
    link.href = URL.createObjectURL(await readFile(path))
    link.click()
    // The URL is revoked later, because the browser reads it when the download begins.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }, true)
  return (
    <>
      <a
        href={path}
        download={name}
        aria-busy={save.busy}
        onClick={(event) => {
          if (isOpen(path)) return
          event.preventDefault()
          if (!save.busy) save.run()
        }}
      >
        {children}
      </a>
      <Outcome of={save} />
    </>
  )
}
