import { useEffect, useRef, useState } from 'react'
import { areShortcutsOn } from '#/shortcuts/shortcuts.ts'

interface SearchFieldProps {
  label: string
  /** What is searched for now; may change from outside, by the way back or a link. */
  value: string
  onSearch(text: string): void
}

/** Milliseconds without a key after which a search begins. */
const debounceMs = 200

/** Searches while one types. `/` leads here from wherever no text is being written, unless single keys were turned off. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const [lastValue, setLastValue] = useState(value)
  const search = useRef(onSearch)
  useEffect(() => {
    search.current = onSearch
  })

  // Not what was typed here has changed it.
  if (value !== lastValue) {
    setLastValue(value)
    if (value !== text.trim()) setText(value)
  }

  useEffect(() => {
    if (text.trim() === lastValue) return
    const timer = setTimeout(() => search.current(text.trim()), debounceMs)
    return () => clearTimeout(timer)
  }, [text, lastValue])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (isWriting(event.target) || !areShortcutsOn()) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return (
    <input
      ref={field}
      type="search"
      className="search"
      aria-label={label}
      placeholder={label}
      aria-keyshortcuts="/"
      autoComplete="off"
      spellCheck={false}
      maxLength={254}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
}

/** Keys belong to whoever writes, to menus and to dialogs. */
const isWriting = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('input:not([type="checkbox"]), textarea, select, dialog, [role="menu"]') !== null
