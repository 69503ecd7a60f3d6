@echo off
rem Drag a ComfyUI log onto this file: the report opens as a page in your browser.
rem A double click looks for the newest log on this computer.
setlocal
chcp 65001 >nul
if "%~1"=="" (
  "%~dp0comfy-triage.exe"
) else (
  "%~dp0comfy-triage.exe" "%~1"
  "%~dp0comfy-triage.exe" "%~1" --format html --open >nul 2>nul
)
echo.
pause
