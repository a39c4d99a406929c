import { useEffect, useRef, useState } from 'react'
import { areShortcutsOn } from '#/shortcuts/shortcuts.ts'

interface SearchFieldProps {
  label: string
  /** The current search; may change from outside, by the back button or a link. */
  value: string
  onSearch(text: string): void
}

/** Debounce in ms. */
const debounceMs = 200

/** Searches while the user types. `/` focuses the field from outside text fields, unless keyboard shortcuts are off. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const [lastValue, setLastValue] = useState(value)
  const search = useRef(onSearch)
  useEffect(() => {
    search.current = onSearch
  })

  // The value changed from outside.
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

/** Keys belong to text fields, menus and dialogs. */
const isWriting = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('input:not([type="checkbox"]), textarea, select, dialog, [role="menu"]') !== null
