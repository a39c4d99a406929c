import { useLayoutEffect, useRef, useState } from 'react'

/** An object that never changes, whose functions call the latest ones: rows need not render again for new callbacks. */
export function useStableCallbacks<T extends { readonly [K in keyof T]: (...args: never[]) => void }>(functions: T): T {
  const latest = useRef(functions)
  useLayoutEffect(() => {
    latest.current = functions
  })
  const [steady] = useState(() => {
    const names = Object.keys(functions) as (keyof T)[]
    const call =
      (name: keyof T) =>
      (...args: never[]) =>
        latest.current[name](...args)
    return Object.fromEntries(names.map((name) => [name, call(name)])) as T
  })
  return steady
}
