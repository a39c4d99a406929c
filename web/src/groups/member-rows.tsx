import { memo, useEffect, useRef, useState, type CSSProperties, type FocusEvent, type RefObject } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { MemberRow, type MemberRowProps } from './member-row.tsx'
import { hasColumns } from './member-view.ts'

/**
 * Rows that are made at once, as many as a screen has, and in each step after that: a fifth of a second on a cheap
 * phone.
 */
const [firstScreen, step] = [32, 140]

/**
 * From so many members on, and up to so many, a wide window has the rows in two halves side by side: a class is seen
 * at one glance. Two screens of halves would be read down, up and down again.
 */
const halves = { from: 17, to: 62, min: 8, maxTypes: 3 } as const

interface MemberRowsProps extends Pick<MemberRowProps, 'types' | 'onOpen'> {
  /** In the order of the rows. */
  members: readonly Member[]
  /** By id as a user. */
  states: ReadonlyMap<number, MemberState>
  /** Ids of those that the filters leave. */
  shown: ReadonlySet<number>
  /** How many members there are, above their names. */
  count: string
  /** How many members need the teacher, and are below one who does not. */
  below: number
  /** Puts those first. */
  onSort(): void
}

/**
 * A row for each member, and a column for each type. All rows are in the document, where assistive technology and the
 * browser's search reach them; the browser lays out those on the screen (`content-visibility`). What a filter leaves
 * out is hidden and not removed: making 300 rows again takes longer than a press may. The roles of a table are said,
 * because browsers forget them where style sheets lay it out.
 */
export const MemberRows = memo(function MemberRows({
  members,
  states,
  shown,
  types,
  count,
  below,
  onSort,
  onOpen,
}: MemberRowsProps) {
  const t = useTranslations('groups')
  const rows = useRef<HTMLDivElement>(null)
  const keepFocus = useFocusInRows(rows)
  const made = useSteps(members.length)
  const hasHalves = members.length >= halves.from && members.length <= halves.to && types.length <= halves.maxTypes
  const names = hasColumns(types) ? types.map((each) => each.display_name) : [t('members.containersOf')]
  const perHalf = Math.max(Math.ceil(shown.size / 2), halves.min)
  return (
    <div
      role="table"
      className="member-table"
      aria-label={t('members.table')}
      aria-rowcount={members.length + 1}
      data-columns={names.length}
      data-many={!hasColumns(types) || undefined}
      data-halves={hasHalves || undefined}
      style={{ '--half': perHalf } as CSSProperties}
    >
      <div role="rowgroup" className="member-heads">
        <div role="row" className="member-head">
          <div role="columnheader">
            <span className={below > 0 ? 'visually-hidden' : 'member-count'}>{count}</span>
            {below > 0 && (
              <button type="button" className="member-sort" onClick={onSort}>
                {t('members.sort', { count: below })}
              </button>
            )}
          </div>
          {names.map((name) => (
            <div role="columnheader" key={name}>
              {name}
            </div>
          ))}
        </div>
        {hasHalves && (
          <div className="member-head second" aria-hidden>
            <div />
            {names.map((name) => (
              <div key={name}>{name}</div>
            ))}
          </div>
        )}
      </div>
      <div role="rowgroup" ref={rows} className="member-rows" {...keepFocus}>
        {members.slice(0, made).map((member) => (
          <div role="row" key={member.user.id} className="member-row" hidden={!shown.has(member.user.id)}>
            <MemberRow t={t} member={member} state={states.get(member.user.id)} types={types} onOpen={onOpen} />
          </div>
        ))}
      </div>
    </div>
  )
})

/** How many rows are made by now. In steps: a rendering in the background yields to a frame after every few rows. */
function useSteps(total: number): number {
  const [count, setCount] = useState(firstScreen)
  useEffect(() => {
    if (count >= total) return
    const timer = setTimeout(() => setCount(count + step))
    return () => clearTimeout(timer)
  }, [count, total])
  return count
}

interface Focused {
  readonly element: Element
  /** The place of its row among all. */
  readonly index: number
}

/**
 * Keeps the focus in rows that change by themselves: when the focused row goes away, or the row whose sheet is open,
 * the next row takes the focus. Otherwise who works with keys would be at the top of the document.
 * @param rows its children are rows, each with one control
 * @returns handlers for the rows
 */
function useFocusInRows(rows: RefObject<HTMLElement | null>) {
  const last = useRef<Focused>(undefined)

  useEffect(() => {
    const element = rows.current
    if (!element) return
    const observer = new MutationObserver(() => {
      if (!last.current || !isLost(last.current.element)) return
      const { index } = last.current
      last.current = undefined
      controlNear(element, index)?.focus()
    })
    observer.observe(element, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] })
    return () => observer.disconnect()
  }, [rows])

  return {
    onFocus: ({ target, currentTarget }: FocusEvent) => {
      last.current = { element: target, index: [...currentTarget.children].findIndex((row) => row.contains(target)) }
    },
    // React tells of no blur of an element that it removes. A sheet that opens takes the focus, and gives it back.
    onBlur: ({ relatedTarget }: FocusEvent) => {
      if (document.querySelector('dialog:modal') === null && relatedTarget !== null) last.current = undefined
    },
  }
}

/** Whether the element went away with the focus. The browser notices later that something is hidden. */
const isLost = (element: Element) =>
  !(element.isConnected && element.checkVisibility()) &&
  (document.activeElement === element || document.activeElement === document.body)

function controlNear(rows: Element, index: number): HTMLElement | undefined {
  const isShown = (row: Element | undefined): row is Element => row !== undefined && row.checkVisibility()
  const all = [...rows.children]
  const near = isShown(all[index])
    ? all[index]
    : (all.slice(index).find(isShown) ?? all.slice(0, index).findLast(isShown))
  return near?.querySelector('button') ?? undefined
}
