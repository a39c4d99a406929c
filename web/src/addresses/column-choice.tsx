import { allColumns, type FoundAddresses } from './find-addresses.ts'

interface ColumnChoiceProps {
  id: string
  found: Pick<FoundAddresses, 'columns' | 'column'>
  /** Of the group of controls around it. */
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
        {columns.map(({ id: value, heading, example }) => (
          <option key={value} value={value}>
            {heading === '' ? example : `${heading}: ${example}`}
          </option>
        ))}
        <option value={allColumns}>{words.all}</option>
      </select>
    </div>
  )
}
