import { useCallback, useId, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { close } from '#/icons/icons.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  /** `wide` for content that is longer than sentences; `sheet`: at the side, for details of something in a list. */
  variant?: 'wide' | 'sheet'
  /** Called by the sign of a sheet in place of closing it: what is in fields may be stored first. Escape closes. */
  beforeClose?(close: () => void): void
  /** Called when the dialog has closed, for whatever reason. The caller removes it from the page then. */
  onClose(): void
  /** The content. @param close closes the dialog, as Escape does */
  children: (close: () => void) => ReactNode
}

/**
 * The browser's own modal dialog: it traps the focus (focus trap), closes on Escape and restores the focus. It opens as
 * soon as it is rendered.
 */
export function Dialog({ title, variant, beforeClose, onClose, children }: DialogProps) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null)
  const heading = useId()
  // In the frame of the press, and not in an effect after it.
  const open = useCallback((element: HTMLDialogElement | null) => {
    setDialog(element)
    element?.showModal()
  }, [])
  const endIt = () => dialog?.close()
  return (
    <dialog
      ref={open}
      className={variant === 'wide' ? 'wide-dialog' : variant}
      aria-labelledby={heading}
      // React passes on the end of a dialog inside, such as a question in a sheet.
      onClose={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      {variant === 'sheet' ? (
        <div className="sheet-head">
          <h2 id={heading}>{title}</h2>
          <CloseButton onPress={() => (beforeClose ? beforeClose(endIt) : endIt())} />
        </div>
      ) : (
        <h2 id={heading}>{title}</h2>
      )}
      {children(endIt)}
    </dialog>
  )
}

/** The sign that ends a sheet, or removes a message. */
export function CloseButton({ onPress }: { onPress(): void }) {
  const t = useTranslations('frame')
  return (
    <button type="button" className="icon-button" onClick={onPress}>
      <Icon path={close} />
      <span className="visually-hidden">{t('close')}</span>
    </button>
  )
}

interface EndButtonProps {
  /** `cancel` where the dialog asks something, `close` where it shows something. */
  word: 'cancel' | 'close'
  variant?: 'primary'
  onPress(): void
}

/** The button that ends a dialog. */
export function EndButton({ word, variant, onPress }: EndButtonProps) {
  const t = useTranslations('frame')
  return (
    <Button variant={variant} onPress={onPress}>
      {t(word)}
    </Button>
  )
}

interface ConfirmDialogProps {
  title: string
  /** In place of "Cancel". */
  cancel?: string
  confirm: ReactNode
  onConfirm(): void
  /** As of a `Dialog`; `onConfirm` is called before it. */
  onClose(): void
  /** What it does. */
  children: ReactNode
}

/** Asks before something is done that cannot be undone, or that others notice. Both of its buttons close it. */
export function ConfirmDialog({ title, cancel, confirm, onConfirm, onClose, children }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <>
          {children}
          <div className="actions end">
            {cancel === undefined ? (
              <EndButton word="cancel" onPress={close} />
            ) : (
              <Button onPress={close}>{cancel}</Button>
            )}
            <Button
              variant="primary"
              onPress={() => {
                close()
                onConfirm()
              }}
            >
              {confirm}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
