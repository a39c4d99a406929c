import { useId, useRef, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Dialog } from '#/components/dialog.tsx'
import type { RowAction } from '#/components/menu.tsx'
import './details.css'

interface DetailSheetProps {
  title: string
  /** The actions of the row's menu, as buttons. */
  actions: readonly RowAction[]
  /** Called when the sheet has closed, and before the action for which it did. */
  onClose(): void
  children: ReactNode
}

/** Everything about one row of a list, beside the list. An action ends the sheet: most of them ask something first. */
export function DetailSheet({ title, actions, onClose, children }: DetailSheetProps) {
  const t = useTranslations('admin.table')
  const picked = useRef<RowAction>(undefined)
  function closed() {
    onClose()
    picked.current?.run()
  }
  return (
    <Dialog title={title} variant="sheet" onClose={closed}>
      {(close) => (
        <>
          {actions.length > 0 && (
            <div className="actions" role="group" aria-label={t('actionsOf', { name: title })}>
              {actions.map((action) => (
                <SheetAction
                  key={action.key}
                  action={action}
                  onPick={() => {
                    picked.current = action
                    close()
                  }}
                />
              ))}
            </div>
          )}
          {children}
        </>
      )}
    </Dialog>
  )
}

function SheetAction({ action: { label, obstacle, isGrave }, onPick }: { action: RowAction; onPick(): void }) {
  const id = useId()
  const isOff = obstacle !== undefined
  return (
    <>
      <button
        type="button"
        className={isGrave ? 'button small danger-text' : 'button small'}
        aria-disabled={isOff}
        aria-describedby={isOff ? id : undefined}
        title={obstacle}
        onClick={() => isOff || onPick()}
      >
        {label}
      </button>
      {isOff && (
        <span id={id} className="visually-hidden">
          {obstacle}
        </span>
      )}
    </>
  )
}

/** A part of a sheet with its heading. */
export function SheetPart({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className="detail-part" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}

/** A fact of a `dl` with the class `facts`. */
export const SheetFact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
