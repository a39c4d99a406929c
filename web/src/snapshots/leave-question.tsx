import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'

/** While it is rendered, a link of the page asks before it is followed, and the browser before the document is left. */
export function LeaveQuestion() {
  const t = useTranslations('snapshots.upload.leave')
  const [asked, setAsked] = useState<HTMLAnchorElement>()
  const mayLeave = useRef(false)

  useEffect(() => {
    function onClick(event: MouseEvent) {
      const link = event.target instanceof Element ? event.target.closest('a') : null
      if (!link || !leaves(link, event) || mayLeave.current) return
      event.preventDefault()
      event.stopPropagation()
      setAsked(link)
    }
    function onUnload(event: BeforeUnloadEvent) {
      if (!mayLeave.current) event.preventDefault()
    }
    // Before the listeners of React, which follow a link.
    addEventListener('click', onClick, { capture: true })
    addEventListener('beforeunload', onUnload)
    return () => {
      removeEventListener('click', onClick, { capture: true })
      removeEventListener('beforeunload', onUnload)
    }
  }, [])

  if (!asked) return null
  return (
    <Dialog title={t('title')} onClose={() => setAsked(undefined)}>
      {(close) => (
        <>
          <p>{t('effect')}</p>
          <ConfirmActions
            cancel={t('stay')}
            confirm={t('go')}
            close={close}
            onConfirm={() => {
              mayLeave.current = true
              asked.click()
            }}
          />
        </>
      )}
    </Dialog>
  )
}

/** Neither a link to the page itself, which cancels nothing, nor one that opens elsewhere or is downloaded. */
const leaves = (link: HTMLAnchorElement, { ctrlKey, metaKey, shiftKey, altKey }: MouseEvent) =>
  !(ctrlKey || metaKey || shiftKey || altKey) &&
  link.target !== '_blank' &&
  !link.hasAttribute('download') &&
  link.href !== '' &&
  withoutHash(link.href) !== withoutHash(location.href)

const withoutHash = (address: string) => address.replace(/#.*$/, '')
