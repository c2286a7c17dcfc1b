const listOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Parses a list of names that are each followed by a digit, such as `sudo 0 timeout 1`. */
export function numbersOf(text: string): ReadonlyMap<string, number> {
  return new Map(Array.from(text.matchAll(/(\S+) (\d)/g), ([, name, number]) => [name!, Number(number)]))
}

/** Shell builtins and keywords, which are no programs. */
export const shellBuiltins = listOf(`
  : . [ [[ (( alias bg bind break builtin caller case cd command compgen complete continue coproc declare dirs disown do
  done echo elif else esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs let
  local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test
  then time times trap true type typeset ulimit umask unalias unset until wait while { } !`)

/** Programs that run the program in their arguments, each with the number of its own arguments (not options) before. */
export const runners =
  numbersOf(`sudo 0 doas 0 env 0 nohup 0 nice 0 ionice 0 exec 0 command 0 builtin 0 xargs 0 stdbuf 0
  setsid 0 caffeinate 0 unbuffer 0 parallel 0 winpty 0 time 0 timeout 1 gtimeout 1 chroot 1`)

/** Options of {@link runners} that take an argument: `sudo -u name`, `xargs -I {}`. */
export const runnerOptions = listOf(`-u -g -I -n -P -L -s -d -E -C -S --user --signal --max-args --max-procs`)

export const shells = listOf(`sh bash zsh dash ksh fish ash`)

/** Programs that accept hosts without a scheme as arguments. */
export const callers =
  listOf(`curl wget nc ncat netcat telnet ssh scp sftp rsync ping http https xh aria2c axel websocat wscat
  grpcurl dig nslookup mosh ftp whois`)

/** Known programs: a line of text that begins with the name of a known program counts as a command. */
export const knownPrograms = listOf(`
  act adb ansible ansible-playbook apt apt-get aria2c atlas aws awk az base64 bash biome brew bun bunx bundle bw cargo cat
  chmod chown claude clawhub cmake codex composer conda cp crontab curl deno dig direnv docker docker-compose dotnet dnf
  duckdb esbuild eslint exiftool fd ffmpeg ffprobe find firebase flyctl gcloud gem gemini gh git glab go gradle grep
  gsutil gunzip gzip head helm heroku hf huggingface-cli hugo jest journalctl jq just kill kubectl launchctl ls lsof
  magick make mkdir mongosh mv mvn mysql mysqldump nc ncat netlify ngrok nmap node npm npx nslookup nvm ollama open op
  openclaw openssl osascript packer pandoc pass pdftotext perl pg_dump php ping pip pip3 pipx pkill playwright pnpm
  poetry powershell prettier prisma psql pytest python python3 pwsh rails rake rclone redis-cli rg rm rsync ruby ruff
  rustc rustup scp screen sed sf sfdx shellcheck skillstead soffice sqlite3 ssh ssh-keygen strace stripe supabase swift
  systemctl tail tar tcpdump terraform tesseract tmux touch trivy tsc tsx uv uvicorn uvx vercel vim vite vitest wget
  which wrangler xcodebuild xcrun yarn yq yt-dlp zip unzip sort uniq wc cut tr tee date ps perl env printf echo more less`)

/** Variables that every shell or agent host sets, which are not informative about a skill. */
export const ambientVariables = listOf(`
  ARGUMENTS BASH BASHPID BASH_REMATCH BASH_SOURCE BASH_VERSION CLAUDE_PLUGIN_ROOT CLAUDE_PROJECT_DIR CLAUDE_SKILL_DIR
  CLAUDE_SESSION_ID CODEX_HOME COLUMNS DIRSTACK EDITOR EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME HISTFILE HOME HOSTNAME
  HOSTTYPE IFS LANG LANGUAGE LC_ALL LC_CTYPE LINENO LINES LOGNAME MACHTYPE OLDPWD OPTARG OPTIND OSTYPE PATH PID
  PIPESTATUS PPID PS1 PS4 PWD RANDOM REPLY SECONDS SHELL SHELLOPTS SHLVL SKILL_DIR SKILL_ROOT SUDO_USER TEMP TERM TMP
  TMPDIR TZ UID USER USERNAME USERPROFILE VISUAL XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME NODE_ENV
  PYTHONPATH NODE_PATH BASEDIR BASE_DIR`)

/** Names of agents' tools that instructions may mention. */
export const agentTools = listOf(`
  Agent AskUserQuestion Bash BashOutput Edit ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit NotebookRead Read
  SlashCommand Skill Task TodoRead TodoWrite WebFetch WebSearch Write`)
