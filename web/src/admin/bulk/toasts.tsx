import { useTranslations } from 'use-intl/react'
import { Toast } from '@base-ui/react/toast'

interface ToastData {
  readonly lines: readonly string[]
}

/** The results of actions, in a corner of the window: announced, with undo where possible. F6 moves the focus there. */
export function Toasts() {
  const t = useTranslations('admin.table')
  const { toasts } = Toast.useToastManager<ToastData>()
  return (
    <Toast.Portal>
      <Toast.Viewport className="toasts" aria-label={t('messages')}>
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className="toast" swipeDirection={[]}>
            <Toast.Content className="toast-content">
              <div className={toast.data?.lines.length ? 'toast-text long' : 'toast-text'}>
                <Toast.Title className="toast-title" render={<p />} />
                {toast.data?.lines.map((line) => (
                  <p key={line} className="toast-line">
                    {line}
                  </p>
                ))}
              </div>
              <div className="toast-actions">
                {toast.actionProps && <Toast.Action className="button small" />}
                {/* Base UI hides it from screen readers until the focus is among the messages, because its own stack them. Ours are listed below each other, and it is visible and reachable at any time. */}
                <Toast.Close className="icon-button" aria-label={t('close')} aria-hidden={undefined}>
                  <span aria-hidden>×</span>
                </Toast.Close>
              </div>
            </Toast.Content>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  )
}
