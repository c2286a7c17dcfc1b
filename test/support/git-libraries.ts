import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toChildEnvironment } from './child-environment.ts'
import { makeFolder } from './cli-harness.ts'
import { installProgram } from './npm-program.ts'

/** Clones a repository into a folder that does not exist; throws with the program's own message. */
type Clone = (url: string, folder: string, depth?: number) => Promise<void>

/** A library that speaks git without the program `git`. */
export interface GitLibrary {
  readonly name: string
  /** Why it cannot be had here, for the name of the test. */
  readonly missing?: string
  readonly isShallow?: boolean
  /** Makes the program that clones; undefined if its registry does not answer. */
  open(): Promise<Clone | undefined>
}

const goCode = '/usr/share/gocode/src/github.com/go-git/go-git'
const jars = ['org.eclipse.jgit', 'slf4j-api', 'slf4j-nop', 'jsch', 'javaewah'].map(
  (name) => `/usr/share/java/${name}.jar`,
)
const debianPython = '/usr/bin/python3'

const goProgram = `package main

import (
	"os"
	"strconv"

	git "github.com/go-git/go-git"
)

func main() {
	depth, _ := strconv.Atoi(os.Args[3])
	if _, err := git.PlainClone(os.Args[2], false, &git.CloneOptions{URL: os.Args[1], Depth: depth}); err != nil {
		println(err.Error())
		os.Exit(1)
	}
}
`

const dulwichProgram = `import sys
from dulwich import porcelain
url, into, depth = sys.argv[1:4]
porcelain.clone(url, into, depth=int(depth) if depth else None, errstream=open('/dev/null', 'wb'))
`

const javaProgram = `import java.io.File;
import org.eclipse.jgit.api.Git;

public class Clone {
  public static void main(String[] args) throws Exception {
    Git.cloneRepository().setURI(args[0]).setDirectory(new File(args[1])).call().close();
  }
}
`

export const gitLibraries: readonly GitLibrary[] = [
  {
    name: 'go-git',
    isShallow: true,
    ...missingUnless(hasProgram('go') && existsSync(goCode), 'golang-go golang-github-go-git-go-git-dev'),
    async open() {
      const folder = await makeFolder()
      await writeFile(join(folder, 'main.go'), goProgram)
      const env = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'cache'), HOME: folder }
      await run('go', ['build', '-o', 'clone', 'main.go'], folder, env)
      return (url, into, depth = 0) => run(join(folder, 'clone'), [url, into, `${depth}`], folder)
    },
  },
  {
    name: 'isomorphic-git',
    isShallow: true,
    async open() {
      const folder = await makeFolder()
      const program = await installProgram('isomorphic-git@1.44.19', 'isogit').catch(() => undefined)
      if (!program) return undefined
      return async (url, into, depth) => {
        const args = ['clone', `--url=${url}`, `--dir=${into}`, ...(depth === undefined ? [] : [`--depth=${depth}`])]
        const { code, stdout, stderr } = await program.run(args, { cwd: folder, env: { HOME: folder } })
        if (code !== 0) throw new Error(stdout + stderr)
      }
    },
  },
  python('dulwich', true, dulwichProgram),
  python('pygit2', false, 'import sys, pygit2\npygit2.clone_repository(sys.argv[1], sys.argv[2])\n'),
  {
    name: 'JGit',
    ...missingUnless(hasProgram('java', '-version') && jars.every(existsSync), 'libjgit-java'),
    async open() {
      const folder = await makeFolder()
      await writeFile(join(folder, 'Clone.java'), javaProgram)
      const args = ['-cp', jars.join(':'), `-Duser.home=${folder}`, join(folder, 'Clone.java')]
      // Java writes file names in the encoding of the locale.
      return (url, into) => run('java', [...args, url, into], folder, { LC_ALL: 'C.UTF-8' })
    },
  },
]

function python(name: string, isShallow: boolean, program: string): GitLibrary {
  const isThere = spawnSync(debianPython, ['-c', `import ${name}`]).status === 0
  return {
    name,
    isShallow,
    ...missingUnless(isThere, `python3-${name}`),
    async open() {
      const folder = await makeFolder()
      return (url, into, depth) => run(debianPython, ['-c', program, url, into, `${depth ?? ''}`], folder)
    },
  }
}

function missingUnless(isThere: boolean, packages: string): Pick<GitLibrary, 'missing'> {
  return isThere ? {} : { missing: `needs ${packages} of Debian` }
}

function hasProgram(name: string, ...args: string[]): boolean {
  return spawnSync(name, args).error === undefined
}

function run(file: string, args: readonly string[], cwd: string, more: Record<string, string> = {}): Promise<void> {
  const env = toChildEnvironment({ HOME: cwd, ...more })
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env, timeout: 240_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${file}: ${stdout}${stderr}`)) : resolve(),
    )
  })
}
