import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { openLink, openLinkProblem } from '@berth/api/open-link.ts'
import { boot } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useCopy } from '#/components/clipboard.ts'
import { Dialog } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { classLink } from '#/messages/card-dialogs.ts'
import './groups.css'
import { QrCode } from './qr-code.tsx'

interface ClassLinkDialogProps {
  /** Types that a link may lead to; one at least. */
  types: readonly { readonly type: string; readonly display_name: string }[]
  /** Address of the reader's own container, without a slash at its end: what is copied from there is shortened to its path. */
  ownAddress?: string
  onClose(): void
}

const parts = { path: '', git: '', ref: '', to: '' }

/** Makes a link that leads each member to their own container of a type: as text to copy, and as a QR code for a projector. */
export const ClassLinkDialog = withTexts({ classLink }, ClassLink)

function ClassLink({ types, ownAddress, onClose }: ClassLinkDialogProps) {
  const t = useTranslations('classLink')
  const [type, setType] = useState(types[0]?.type ?? '')
  const [given, setGiven] = useState(parts)
  const wanted = { type, ...given, path: pathBelow(ownAddress, given.path) }
  const problem = openLinkProblem(wanted)
  const link = openLink(location.origin, wanted)
  const { shown, said, copy, forget } = useCopy(link)
  const field = (name: keyof typeof parts) => (
    <Field label={t(name)}>
      {(control) => (
        <input
          {...control}
          value={given[name]}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setGiven({ ...given, [name]: event.target.value.trim() })
            forget()
          }}
        />
      )}
    </Field>
  )
  return (
    <Dialog title={t('title')} variant="sheet" onClose={onClose}>
      {() => (
        <>
          <p className="hint">{t('lead')}</p>
          <div className="group-form">
            {types.length > 1 && (
              <Field label={t('type')}>
                {(control) => (
                  <select {...control} value={type} onChange={(event) => setType(event.target.value)}>
                    <Options of={types.map((each) => [each.type, each.display_name])} />
                  </select>
                )}
              </Field>
            )}
            {field('path')}
            {boot.hasGitLinks && field('git')}
            {given.git !== '' && (
              <div className="group-fields">
                {field('ref')}
                {field('to')}
              </div>
            )}
          </div>
          <Alert error={undefined} sentence={problem && t(`problem.${problem}`)} />
          {problem === undefined && (
            <>
              <p>
                <code ref={shown} className="path">
                  {link}
                </code>
              </p>
              <QrCode text={link} label={t('qr')} />
              <p role="status">{said}</p>
              <div className="actions">
                <Button variant="primary" onPress={copy}>
                  {t('copy')}
                </Button>
              </div>
            </>
          )}
        </>
      )}
    </Dialog>
  )
}

/** A whole address of one's own container stands for its path in it. */
function pathBelow(ownAddress: string | undefined, given: string): string {
  if (ownAddress === undefined || !given.startsWith(`${ownAddress}/`)) return given
  return given.slice(ownAddress.length + 1)
}
