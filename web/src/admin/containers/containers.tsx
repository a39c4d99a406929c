import { useCallback, useMemo, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminUser, ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage } from '#/admin/admin-page.tsx'
import { useBulkJobs, type BulkKind } from '#/admin/bulk/bulk-jobs.tsx'
import { Day, RelativeTime } from '#/admin/instants.tsx'
import { useBulkText, useListText, useView, type ListKind } from '#/admin/list/list-kind.ts'
import { ListPage } from '#/admin/list/list-page.tsx'
import { useBlockedFilter, type Choice } from '#/admin/list/toolbar.tsx'
import { columnsFor, type Columns } from '#/admin/table/columns.ts'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import { UserDialog } from '#/admin/users/user-dialogs.tsx'
import { showUsers } from '#/admin/users/user-list.ts'
import { createApiClient } from '#/api/api-client.ts'
import { TypeName, useTypeName, useTypes } from '#/components/type-name.tsx'
import { pages } from '#/paths.ts'
import {
  DeleteContainerDialog,
  StopContainerDialog,
  useContainerActions,
  type ContainerDialog,
} from './container-dialogs.tsx'
import { ContainerSheet } from './container-sheet.tsx'
import { ContainerState } from './container-state.tsx'
import { LastLinesDialog } from './last-lines-dialog.tsx'
import { containerSource, containerStatuses, containersView, showContainers } from './container-list.ts'

/** All containers: search, filter, sort, logs, restart, stop, block, unblock and delete. */
export function Containers() {
  const t = useTranslations('admin.containers')
  const shell = useTranslations('admin.shell')
  const words = useListText('admin.containers')
  const nameOf = useTypeName()
  const view = useView(containersView)
  const users = useTranslations('admin.users')
  const { notify } = useBulkJobs()
  const [open, setOpen] = useState<{ name: ContainerDialog; container: ListedContainer }>()
  /** Whose extra disk is changed. */
  const [owner, setOwner] = useState<AdminUser>()
  const details = useCallback((container: ListedContainer) => setOpen({ name: 'details', container }), [])
  const columns = useContainerColumns(details)
  const choices = useContainerChoices(view.container_type)
  const bulk = useContainerBulk()
  const actions = useContainerActions((name, container) => setOpen({ name, container }))

  const kind: ListKind<ListedContainer> = {
    path: pages.adminContainers,
    className: 'containers',
    source: containerSource,
    columns,
    choices,
    bulk,
    targetOf: ({ id, email, container_type: type, is_blocked }) => ({
      id,
      name: t('name', { type: nameOf(type), email }),
      isBlocked: is_blocked,
    }),
    isLeftOut: () => false,
    actionsOf: actions.of,
    text: {
      ...words,
      noMatch: [t('noMatch'), t('noMatchHint')],
      none: [t('none'), t('noneHint')],
    },
  }

  function close() {
    setOpen(undefined)
    setOwner(undefined)
    focusRows()
  }

  return (
    <AdminPage title={shell('containers')}>
      <ListPage kind={kind} view={view} />
      {open?.name === 'details' && (
        <ContainerSheet
          container={open.container}
          actions={actions.inSheet(open.container)}
          onExtraDisk={(of) => {
            setOpen(undefined)
            setOwner(of)
          }}
          onClose={close}
        />
      )}
      {owner && (
        <UserDialog
          name="extraDisk"
          user={owner}
          onDone={(user) => {
            notify({ title: users('notice.extraDisk', { email: user.email }) })
            void showUsers([user])
          }}
          onGone={close}
          onClose={close}
        />
      )}
      {open?.name === 'logs' && <LastLinesDialog container={open.container} onClose={close} />}
      {open?.name === 'delete' && (
        <DeleteContainerDialog container={open.container} onGone={() => actions.gone(open.container)} onClose={close} />
      )}
      {(open?.name === 'restart' || open?.name === 'stop' || open?.name === 'block') && (
        <StopContainerDialog by={open.name} container={open.container} actions={actions} onClose={close} />
      )}
    </AdminPage>
  )
}

const column = columnsFor<ListedContainer>()

/** @param onOpen opens the details of a container; the same function at every render */
function useContainerColumns(onOpen: (container: ListedContainer) => void): Columns<ListedContainer> {
  const t = useTranslations('admin.containers')
  return useMemo(
    () =>
      [
        column.accessor('email', {
          meta: { label: t('columns.email'), isRowHeader: true },
          cell: ({ row: { original } }) => (
            // By keyboard the row menu opens the details, so that each row is one tab stop.
            <button type="button" className="link-button name" tabIndex={-1} onClick={() => onOpen(original)}>
              {original.email}
            </button>
          ),
        }),
        column.accessor('container_type', {
          meta: { label: t('columns.container_type') },
          enableSorting: false,
          cell: ({ getValue }) => (
            <span className="name">
              <TypeName type={getValue()} />
            </span>
          ),
        }),
        column.accessor('status', {
          meta: { label: t('columns.status') },
          enableSorting: false,
          cell: ({ row: { original } }) => <ContainerState container={original} />,
        }),
        column.accessor('template_image', {
          meta: { label: t('columns.template_image') },
          enableSorting: false,
          cell: ({ getValue }) => (
            // Images differ at the end of their name.
            <span className="path" title={getValue()}>
              {getValue().replace(/^.*\//, '')}
            </span>
          ),
        }),
        column.accessor('last_used', {
          meta: { label: t('columns.last_used') },
          sortDescFirst: true,
          cell: ({ getValue }) => <RelativeTime at={getValue()} />,
        }),
        column.accessor('created_at', {
          meta: { label: t('columns.created_at') },
          sortDescFirst: true,
          cell: ({ getValue }) => <Day at={getValue()} />,
        }),
      ] as Columns<ListedContainer>,
    [t, onOpen],
  )
}

/**
 * The filters of the page of containers. The types come from the administrator's own containers: the list has an entry
 * for each configured type.
 * @param chosen stays a choice even if the type no longer exists
 */
function useContainerChoices(chosen: string | undefined): readonly Choice[] {
  const t = useTranslations('admin.containers')
  const blockedFilter = useBlockedFilter()
  const { data } = useTypes()
  const nameOf = useTypeName()
  const types = [...new Set([...(data ?? []).map(({ type }) => type), ...(chosen === undefined ? [] : [chosen])])]
  return [
    {
      name: 'container_type',
      label: t('filters.type'),
      options: [['', t('filters.anyType')], ...types.map((type) => [type, nameOf(type)] as const)],
    },
    {
      name: 'status',
      label: t('filters.status'),
      options: [
        ['', t('filters.anyStatus')],
        ...containerStatuses.map((status) => [status, t(`statuses.${status}`)] as const),
      ],
    },
    blockedFilter,
  ]
}

/** Timeout in ms: a thousand containers have to stop. */
const timeout = 120_000

/** Blocks and unblocks many containers. */
function useContainerBulk(): BulkKind {
  const text = useBulkText('admin.containers')
  return {
    send: async (ids, wanted) => {
      const api = createApiClient(new AbortController().signal, timeout)
      const answer = await (wanted ? api.bulkBlockContainers : api.bulkUnblockContainers)({
        body: { container_ids: ids },
      })
      await showContainers(answer.containers)
      return { done: answer.containers.map(({ id }) => id), notFound: answer.not_found, refused: [] }
    },
    text,
    subjectOf: (id) => `container:${id}`,
  }
}
