import { createElement, lazy, useState, type ComponentType } from 'react'

interface Part<P extends object> {
  readonly default: ComponentType<P>
}

/** Parts whose load began with the document. */
const begun: Promise<unknown>[] = []

/** How long the first rendering waits for them, in ms. */
const maxWait = 1_000

/**
 * A component that is loaded when it is rendered first. One that is there by then is rendered like the others: `lazy` suspends even for
 * a promise that has resolved, and once React has shown a fallback it holds the content back for 0.3 s, lest several that end one
 * after the other make the page flicker.
 * @param isFirst the document is of its page: it is loaded at once, and `firstParts` waits for it
 */
export function lazyPart<P extends object>(load: () => Promise<Part<P>>, isFirst: boolean): ComponentType<P> {
  if (!isFirst) return lazy(load)
  let here: Part<P> | undefined
  const early = load()
  begun.push(early.then((part) => (here = part)))
  const Late: ComponentType<P> = lazy(() => early)
  return function First(props) {
    // Chosen once: another component in its place would begin anew.
    const [Shown] = useState(() => here?.default ?? Late)
    return createElement(Shown, props)
  }
}

/** Resolves when the parts of the document's page are there or have failed, or after a second. */
export const firstParts = () =>
  Promise.race([Promise.allSettled(begun), new Promise((resolve) => setTimeout(resolve, maxWait))])
