/**
 * Whoever works by keyboard stays where he was when what he pressed goes away, as the row does that he has deleted: the
 * focus moves to the nearest thing around it that is still there.
 */
export function keepFocus(): void {
  let around: readonly EventTarget[] = []
  document.addEventListener('focusin', (event) => (around = event.composedPath()))
  document.addEventListener('focusout', ({ target }) => {
    // Left on purpose, if it is still there once the page has changed.
    queueMicrotask(() => {
      if (target instanceof Node && target.isConnected && document.activeElement === document.body) around = []
    })
  })
  new MutationObserver(() => {
    if (document.activeElement !== document.body || !(around[0] instanceof Node) || around[0].isConnected) return
    const nearest = around.find((one) => one instanceof HTMLElement && one.isConnected)
    around = []
    if (!(nearest instanceof HTMLElement) || nearest === document.body) return
    if (!nearest.hasAttribute('tabindex')) nearest.tabIndex = -1
    nearest.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}
