import { memo } from 'react'
import { Options } from '#/components/field.tsx'
import { allColumns, type FoundAddresses } from './find-addresses.ts'

/** A file that is no list of addresses may have a hundred thousand lines. */
const maxShown = 1_000

interface LineListProps {
  /** What they are; it stands above them, where it is announced. */
  label: string
  /** The lines as they are shown; a text may come twice. */
  lines: readonly string[]
}

/**
 * Lines of a list that cannot be used, up to 1,000: a teacher who corrects a file has to find each. Nothing while there
 * is none. Not for a live region: a screen reader would read hundreds of them.
 */
export const LineList = memo(function LineList({ label, lines }: LineListProps) {
  if (lines.length === 0) return null
  return (
    <div
      className="note line-list"
      role="region"
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
      tabIndex={0}
    >
      <ul>
        {lines.slice(0, maxShown).map((line, at) => (
          <li key={at} className="address">
            {line}
          </li>
        ))}
        {lines.length > maxShown && <li>… (+{lines.length - maxShown})</li>}
      </ul>
    </div>
  )
})

interface ColumnChoiceProps {
  id: string
  found: Pick<FoundAddresses, 'columns' | 'column'>
  /** The class of the group of controls around it. */
  className: string
  isOff: boolean
  words: { readonly label: string; readonly choose: string; readonly all: string }
  onChoose(column: string): void
}

/** Which column of a table holds the addresses; nothing while one alone does. */
export function ColumnChoice({ id, found: { columns, column }, className, isOff, words, onChoose }: ColumnChoiceProps) {
  if (columns.length === 0) return null
  return (
    <div className={className}>
      <label htmlFor={id}>{words.label}</label>
      <select id={id} value={column ?? ''} disabled={isOff} onChange={({ target }) => onChoose(target.value)}>
        {column === undefined && <option value="">{words.choose}</option>}
        <Options
          of={columns.map((each) => [each.id, each.heading === '' ? each.example : `${each.heading}: ${each.example}`])}
        />
        <option value={allColumns}>{words.all}</option>
      </select>
    </div>
  )
}
