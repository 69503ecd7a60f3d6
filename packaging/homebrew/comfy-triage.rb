# Formula for Homebrew; the release workflow fills in VERSION, REPOSITORY, URL and SHA256.
class ComfyTriage < Formula
  desc "Reads what ComfyUI wrote on its console and says what is wrong"
  homepage "@REPOSITORY@"
  url "@URL@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args
    generate_completions_from_executable(bin/"comfy-triage", "completions")
  end

  test do
    (testpath/"comfyui.log").write "got prompt\nPrompt executed in 2.50 seconds\n"
    assert_match "insufficient-evidence", shell_output("#{bin}/comfy-triage comfyui.log --quiet")
  end
end
