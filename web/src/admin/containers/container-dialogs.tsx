import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { undoLabelFor } from '#/admin/bulk/run-bulk.ts'
import { addressOf } from '#/admin/list/view.ts'
import type { RowAction } from '#/components/menu.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import { pages } from '#/paths.ts'
import { navigate } from '#/router/router.ts'
import { containerActionsFor, type ContainerAction } from './container-actions.ts'
import { showContainerGone, showContainers, showContainerStopped } from './container-list.ts'

interface ContainerActions {
  /** The entries of a container's row menu. */
  of(container: ListedContainer): readonly RowAction[]
  /** The same without the details. */
  inSheet(container: ListedContainer): readonly RowAction[]
  /** @throws what the request throws */
  block(container: ListedContainer, signal: AbortSignal): Promise<void>
  /** @throws what the request throws */
  stop(container: ListedContainer, signal: AbortSignal): Promise<void>
  /** @throws what the request throws */
  restart(container: ListedContainer, signal: AbortSignal): Promise<void>
  gone(container: ListedContainer): Promise<void>
}

/** A dialog of the page of containers. */
export type ContainerDialog = 'details' | 'logs' | 'restart' | 'stop' | 'block' | 'delete'

/** The actions on one container, from its row menu. @param open opens a dialog first */
export function useContainerActions(
  open: (name: ContainerDialog, container: ListedContainer) => void,
): ContainerActions {
  const t = useTranslations('admin.containers')
  const { notify } = useBulkJobs()
  const sentenceOf = useErrorMessage()
  const typeName = useTypeName()
  const nameOf = ({ container_type, email }: ListedContainer) => t('name', { type: typeName(container_type), email })

  /** @param hasUndo false for an undo */
  async function set(container: ListedContainer, isBlocked: boolean, signal: AbortSignal, hasUndo = true) {
    const api = createApiClient(signal)
    const change = isBlocked ? api.blockContainer : api.unblockContainer
    const answer = await change({ params: { id: String(container.id) } })
    await showContainers([answer.container])
    const name = nameOf(container)
    notify({
      title: isBlocked ? t('notice.blocked', { name }) : t('notice.unblocked', { name }),
      lines: isBlocked ? [] : [t('notice.staysStopped')],
      subjects: [`container:${container.id}`],
      undo: hasUndo ? { label: undoLabelFor(isBlocked), run: () => setAlone(container, !isBlocked, false) } : undefined,
    })
  }

  /** For actions without a dialog that could show the error. */
  function setAlone(container: ListedContainer, isBlocked: boolean, hasUndo = true) {
    set(container, isBlocked, new AbortController().signal, hasUndo).catch((error: unknown) =>
      notify({ title: sentenceOf(error) }),
    )
  }

  const runs: Readonly<Record<ContainerAction, (container: ListedContainer) => void>> = {
    owner: ({ email }) => navigate(addressOf(pages.adminUsers, { q: email })),
    logs: (container) => open('logs', container),
    restart: (container) => open('restart', container),
    stop: (container) => open('stop', container),
    block: (container) => open('block', container),
    unblock: (container) => setAlone(container, false),
    delete: (container) => open('delete', container),
  }

  const inSheet = (container: ListedContainer): readonly RowAction[] =>
    containerActionsFor(container).map((action) => ({
      key: action,
      label: t(`actions.${action}`),
      isGrave: action === 'delete',
      run: () => runs[action](container),
    }))

  return {
    of: (container) => [
      { key: 'details', label: t('actions.details'), run: () => open('details', container) },
      ...inSheet(container),
    ],
    inSheet,
    block: (container, signal) => set(container, true, signal),
    stop: async (container, signal) => {
      await createApiClient(signal).stopContainer({ params: { id: String(container.id) } })
      await showContainerStopped(container.id)
      notify({ title: t('notice.stopped', { name: nameOf(container) }), subjects: [`container:${container.id}`] })
    },
    restart: async (container, signal) => {
      await createApiClient(signal).restartUserContainer({ params: { id: String(container.id) } })
      notify({ title: t('notice.restarting', { name: nameOf(container) }), subjects: [`container:${container.id}`] })
    },
    gone: async (container) => {
      await showContainerGone(container.id)
      notify({ title: t('notice.deleted', { name: nameOf(container) }) })
    },
  }
}

interface ContainerDialogProps {
  container: ListedContainer
  onClose(): void
}

/** Says what a restart, a stop or a block means for the user of the container. */
export function StopContainerDialog({
  by,
  container,
  actions,
  onClose,
}: ContainerDialogProps & {
  by: 'restart' | 'stop' | 'block'
  actions: Pick<ContainerActions, 'restart' | 'stop' | 'block'>
}) {
  const t = useTranslations('admin.containers')
  const name = t('name', { type: useTypeName()(container.container_type), email: container.email })
  return (
    <ActionDialog
      title={t(`${by}.title`, { name })}
      words={(key) => t(`${by}.${key}`)}
      run={(signal) => actions[by](container, signal)}
      onClose={onClose}
    >
      <p>{t(`${by}.text`)}</p>
    </ActionDialog>
  )
}

/** Deletes a container, optionally with its home. */
export function DeleteContainerDialog({
  container,
  onGone,
  onClose,
}: ContainerDialogProps & { onGone(): Promise<void> }) {
  const t = useTranslations('admin.containers')
  const [isPurge, setPurge] = useState(false)
  const name = t('name', { type: useTypeName()(container.container_type), email: container.email })
  async function run(signal: AbortSignal) {
    await createApiClient(signal).deleteContainer({
      params: { id: String(container.id) },
      query: { purge: String(isPurge) },
    })
    await onGone()
  }
  return (
    <ActionDialog
      title={t('delete.title', { name })}
      words={(key) => t(`delete.${key}`)}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('delete.text')}</p>
      {!isPurge && <p>{t('delete.files')}</p>}
      <label className="check-line">
        <input type="checkbox" checked={isPurge} onChange={(event) => setPurge(event.target.checked)} />
        {t('delete.purge')}
      </label>
    </ActionDialog>
  )
}
