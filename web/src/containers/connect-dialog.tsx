import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { quotedSshName, sshConfigEntry } from '@berth/api/ssh-config.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useCopy } from '#/components/clipboard.ts'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { Link } from '#/components/link.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { connect } from '#/messages/card-dialogs.ts'
import { pages } from '#/paths.ts'
import { useMe } from '#/session/use-me.ts'

interface ConnectDialogProps {
  name: string
  type: string
  /** Called when the dialog has closed. */
  onClose(): void
}

/** How a container is reached by SSH: the command, the text for `~/.ssh/config`, and links that open editors. */
export const ConnectDialog = withTexts({ connect }, Connect)

function Connect({ name, type, onClose }: ConnectDialogProps) {
  const t = useTranslations('connect')
  const me = useMe()
  const server = useQuery({ queryKey: ['ssh'], queryFn: ({ signal }) => createApiClient(signal).sshServer() })
  return (
    <Dialog title={t('title', { name })} variant="wide" onClose={onClose}>
      {(close) => (
        <>
          <Alert error={server.error ?? undefined} />
          {me && server.data && <Ways user={`${me.slug}-${type}`} {...server.data} />}
          <p>
            <Link to={pages.sshKeys}>{t('keys')}</Link>
          </p>
          <div className="actions end">
            <EndButton word="close" variant="primary" onPress={close} />
          </div>
        </>
      )}
    </Dialog>
  )
}

interface WaysProps {
  /** The name before the `@`. */
  user: string
  host: string
  port: number
  host_keys: readonly string[]
}

function Ways({ user, host, port, host_keys: hostKeys }: WaysProps) {
  const t = useTranslations('connect')
  const quoted = quotedSshName(user)
  const option = port === 22 ? '' : `-p ${port} `
  const config = sshConfigEntry({ host, port }, user)
  const address = `${encodeURIComponent(user)}@${host}${port === 22 ? '' : `:${port}`}`
  const gateway = new URLSearchParams({ host, port: String(port), user, type: 'ssh', deploy: 'true' })
  return (
    <>
      <Copied
        label={t('command')}
        text={`ssh ${option}${quoted === user ? `${user}@${host}` : `-l ${quoted} ${host}`}`}
      />
      {config !== undefined && <Copied label={t('config')} text={`${config}\n`} />}
      <Copied label={t('knownHosts')} text={hostKeys.join('\n')} />
      <p className="actions">
        <a className="button small" href={`vscode://vscode-remote/ssh-remote+${address}/?windowId=_blank`}>
          {t('vscode')}
        </a>
        <a className="button small" href={`jetbrains-gateway://connect#${gateway.toString()}`}>
          {t('jetbrains')}
        </a>
      </p>
    </>
  )
}

/** A text that is copied by a button, or selected where a browser does not copy. */
function Copied({ label, text }: { label: string; text: string }) {
  const id = useId()
  const { shown, label: word, said, copy } = useCopy<HTMLPreElement>(text)
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{label}</h3>
      {/* It wraps, so that nothing has to be scrolled sideways. */}
      <pre ref={shown} className="path wrapped">
        {text}
      </pre>
      <p className="actions with-hint">
        <Button variant="small" onPress={copy}>
          {word}
          <span className="visually-hidden"> {label}</span>
        </Button>
        <span role="status" className="hint">
          {said}
        </span>
      </p>
    </section>
  )
}
